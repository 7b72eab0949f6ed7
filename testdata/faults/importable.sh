# A session file of kagent-ts, elsewhere and in the place of a session.
old=$FAULTS_DATA/../kagent-ts/react-interrupted.json
mkdir -m 700 .kagent-sessions && cp "$old" old.json && cp "$old" .kagent-sessions/s1.json
