# Prints all that a session is.
exec "$FAULTS_KAGENT" show s1 -o json
