# A paused session whose output is kept beside it, for tools that do not keep
# that of a setup.
exec sh "$FAULTS_DATA/paused.sh" >setup.txt
