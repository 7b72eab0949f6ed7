# After a failure: what is there is the whole session or none; then it is removed.
FL_RECOVERED=0 FAULTS_CHECK=removed "$FAULTS_EXE" || exit 70
"$FAULTS_KAGENT" rm s1
code=$?
[ $code -eq 3 ] || exit $code
