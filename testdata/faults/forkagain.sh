# After a failure: the fork is there, or made now.
"$FAULTS_KAGENT" show f1 >/dev/null || exec sh "$FAULTS_DATA/fork.sh"
