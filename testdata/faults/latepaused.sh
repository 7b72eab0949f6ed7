# A session that a limit paused after its second step (exit 6).
sh "$FAULTS_DATA/run.sh" --max-steps 2
[ $? -eq 6 ]
