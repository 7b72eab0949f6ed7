# A session that a limit paused, with an artifact; it is to be forked, and must
# stay as it is.
sh "$FAULTS_DATA/run.sh" --max-steps 2
[ $? -eq 6 ] && cd .kagent-sessions && find s1 s1.json -type f ! -name lock -exec sha256sum {} + | sort >../before
