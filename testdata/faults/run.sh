# Starts the session of the fault tests. What the fixture's tools do to the
# outside world goes to the standard output of kagent, in order with the events
# that it reports there; both append.
EFFECTS=$(readlink /proc/$$/fd/1)
export EFFECTS
script=script
[ -z "$FAULTS_AGENT" ] || script=$FAULTS_AGENT
exec "$FAULTS_KAGENT" run --quiet -o jsonl --session s1 --agent "${FAULTS_AGENT:-react}" --model "script:$FAULTS_DATA/$script.yaml" \
	--allow write,execute --env EFFECTS "$@" 'read the notes and report' >>"$EFFECTS"
