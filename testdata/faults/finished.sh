# The finished session, and another one. It is made once: what is damaged is a
# copy of it. Set FAULTS_FIRST to the script that makes the session.
good=$HOME/good
if [ ! -d "$good" ]; then
	sh "$FAULTS_DATA/${FAULTS_FIRST:-run.sh}" || exit 1
	"$FAULTS_KAGENT" run --quiet --session other --model demo hello >/dev/null || exit 1
	"$FAULTS_KAGENT" show s1 -o json >good.json || exit 1
	cp -a . "$good" && cp "$(readlink /proc/$$/fd/1)" "$good.out"
	exit
fi
cp -a "$good/." . && cat "$good.out"
