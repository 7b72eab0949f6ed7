# Removes the session.
exec "$FAULTS_KAGENT" rm s1 -o json
