# After a failure: the session goes on, whatever it was made of.
exec "$FAULTS_KAGENT" resume s1 --quiet --model demo --workdir . 'go on'
