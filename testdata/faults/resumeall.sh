# Goes on with all that was paused, as a cron line would.
EFFECTS=$(readlink /proc/$$/fd/1)
export EFFECTS
exec "$FAULTS_KAGENT" resume --status paused --quiet -o jsonl --workdir . --max-steps 20 "$@" >>"$EFFECTS"
