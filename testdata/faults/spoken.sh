# A finished session that a summary may be made of, and what its model would be sent.
sh "$FAULTS_DATA/finished.sh" || exit 1
[ -f "$HOME/messages" ] || "$FAULTS_KAGENT" show s1 --messages >"$HOME/messages"
