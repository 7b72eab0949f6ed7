# Puts a summary in the place of what was said. {turns, chars} on stdout say that it is there.
exec "$FAULTS_KAGENT" compact s1 -o json
