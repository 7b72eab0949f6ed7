# Makes a session of a file of kagent-ts. Its id on stdout says that it is there.
exec "$FAULTS_KAGENT" import old.json --session f1 --model demo
