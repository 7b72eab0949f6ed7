# The first step alone: a limit pauses the session after it (exit 6).
exec sh "$FAULTS_DATA/run.sh" --max-steps 1
