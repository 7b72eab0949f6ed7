# Makes another session of the past of s1. Its id on stdout says that it is there.
exec "$FAULTS_KAGENT" fork s1 --session f1
