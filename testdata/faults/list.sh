# Lists all sessions.
exec "$FAULTS_KAGENT" list -o json
