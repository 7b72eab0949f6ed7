# A session that a limit paused after its first step (exit 6).
sh "$FAULTS_DATA/run.sh" --max-steps 1
[ $? -eq 6 ]
