// Package faults proves on the built binary what kagent promises about kills,
// power cuts, races, failing and full disks and damaged files, with the fault
// lab: a set of tools beside this repository that disturb a process at each of
// its file calls, or rebuild the directory states that a power cut may leave.
// `make faults` runs it.
//
//   - sweeps_test.go and sweeps_disk_test.go list the sweeps and run them on the
//     real binary; sweeps_agents_test.go has those of sessions with children.
//   - broken_test.go and broken_disk_test.go break the program on purpose, one
//     rule at a time, and fail if the tool meant for that rule does not notice.
//   - check_test.go is what the lab starts after each fault. It knows the log by
//     its format alone and imports nothing of kagent. storage_test.go has the
//     rules for a disk that fails, disk_test.go says what the lab did to it,
//     damage_test.go has the rules for damaged files.
//   - fork_test.go disturbs a fork: it is there whole or not at all.
//   - compact_test.go disturbs the making of a summary: it takes its place once,
//     is paid for once, or all is as it was. sweeps_compact_test.go lists how.
//   - import_test.go disturbs an import: it is there whole or not at all, and its
//     file is lost never.
//   - locks_test.go is for the one call that the lab doesn't see.
//   - testdata/faults holds the fixture and the commands that the lab runs.
//
// Variables:
//
//	KAGENT_FAULTLAB  where the lab is; default ../shared/faultlab beside the repository
//	FAULTS_PROFILE   full (default): every call; short: some minutes, for CI: not
//	                 every call, power cuts of a session of one step;
//	                 long: also a power cut after a kill at every call
//	TMPDIR           where the trials are; default /dev/shm if it has 2 GiB, since
//	                 they sync often
//	FAULTS_KEEP      a directory to keep failing trials in
package faults
