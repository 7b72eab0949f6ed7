# After a disk error: what is there must be good as it is; then as recover.sh.
FL_RECOVERED=0 FL_OUTS=$FL_STDOUT FAULTS_CHECK=1 "$FAULTS_EXE" || exit 70
exec sh "$FAULTS_DATA/recover.sh" "$@"
