# Starts the session of the fault tests. What the fixture's tools do to the
# outside world goes to the standard output of kagent, in order with the events
# that it reports there; both append.
EFFECTS=$(readlink /proc/$$/fd/1)
export EFFECTS
script=${FAULTS_AGENT:-script} agent=${FAULTS_AGENT:-react}
case $agent in
brief) agent=react ;;
summed) # between steps, as an output more would be too long
	agent=react
	set -- --context-chars 9000 --tools read_file,write_file,shell "$@"
	;;
spoken) # only when asked for; copies of it need the work directory
	script=summed agent=react
	set -- --workdir "$HOME" "$@"
	;;
esac
exec "$FAULTS_KAGENT" run --quiet -o jsonl --session s1 --agent "$agent" --model "script:$FAULTS_DATA/$script.yaml" \
	--allow write,execute --env EFFECTS "$@" 'read the notes and report' >>"$EFFECTS"
