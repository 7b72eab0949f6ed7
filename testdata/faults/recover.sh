# What a script does after a failure: resume; a session that was never announced
# (exit 3) is started.
sh "$FAULTS_DATA/resume.sh" "$@"
code=$?
[ $code -eq 3 ] || exit $code
exec sh "$FAULTS_DATA/run.sh" "$@"
