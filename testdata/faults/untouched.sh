# Resumes a copy of a session that may be damaged. One that is refused (exit 5)
# must be as it was, but for the text in its lock file, which only people read.
mkdir copy && cp -a .kagent-sessions ./*.txt copy/ && cd copy || exit 98
[ ! -d ../out ] || cp -a ../out .
state() {
	find . ! -path ./.kagent-sessions/s1/lock -printf '%p %y %l %s\n' | sort
	find . -type f ! -path ./.kagent-sessions/s1/lock -exec sha256sum {} + | sort
}
before=$(state)
EFFECTS=$(readlink /proc/$$/fd/1)
export EFFECTS
"$FAULTS_KAGENT" resume s1 --quiet -o jsonl --workdir . --max-steps 20 >>"$EFFECTS"
code=$?
if [ $code -eq 5 ] && [ "$before" != "$(state)" ]; then
	echo "changed, although it was refused" >&2
	exit 99
fi
exit $code
