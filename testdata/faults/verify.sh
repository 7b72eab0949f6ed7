# Looks for damage in all sessions.
exec "$FAULTS_KAGENT" verify -o json
