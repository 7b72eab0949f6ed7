# Makes a new session from what is sound. Its id on stdout says that it is there.
exec "$FAULTS_KAGENT" repair s1 --session f1
