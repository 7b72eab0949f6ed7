# After a failure: the summary is there, or made now; the next turn goes on with
# it, also when it was begun before.
grep -q 'what is next?' .kagent-sessions/s1/events.jsonl && exec "$FAULTS_KAGENT" resume s1 --quiet
sh "$FAULTS_DATA/compact.sh" && exec "$FAULTS_KAGENT" resume s1 --quiet --workdir . 'what is next?'
