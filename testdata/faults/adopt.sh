# Makes the session of the file of kagent-ts that stands in its place.
exec "$FAULTS_KAGENT" import .kagent-sessions/s1.json --model demo
