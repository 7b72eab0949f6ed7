# A paused session with a torn end: bytes that had not been promised.
sh "$FAULTS_DATA/paused.sh" && printf '{"crc":"0' >>.kagent-sessions/s1/events.jsonl && : >torn
