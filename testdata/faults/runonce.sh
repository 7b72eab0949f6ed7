# Starts the session, or goes on with the one that is there.
exec sh "$FAULTS_DATA/run.sh" --if-exists resume
