# Goes on with the session. A trial directory may be a copy made elsewhere, so
# the work directory is given anew.
EFFECTS=$(readlink /proc/$$/fd/1)
export EFFECTS
exec "$FAULTS_KAGENT" resume s1 --quiet -o jsonl --workdir . --max-steps 20 "$@" >>"$EFFECTS"
