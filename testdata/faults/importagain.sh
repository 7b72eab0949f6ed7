# After a failure: the session is there, or made now.
"$FAULTS_KAGENT" show f1 >/dev/null || exec sh "$FAULTS_DATA/import.sh"
