// Package soak keeps many sessions of all agents at work for minutes, with the
// built program and from outside, while kills, signals, a bad network, full
// disks, cancels and other resumers hit them at random, and then looks whether
// anything was lost or done twice. `make soak` runs it.
//
//   - soak_test.go is the whole; driver_test.go keeps one session going,
//     trouble_test.go disturbs its processes, operator_test.go is whoever works
//     with all sessions at the same time.
//   - model_test.go is the service that all sessions ask: what it says is a
//     function of the request, and wire_test.go bends and cuts how it is said.
//   - judge_test.go compares logs, effects and answers in the end. It knows the
//     log by its format and imports nothing of kagent.
//
// Variables:
//
//	SOAK_TIME  how long to disturb; default 10m, for 2,000 steps; shorter: in proportion
//	SOAK_SEED  the seed of an earlier run: the same choices, at moments of their own
//	SOAK_KEEP  an empty directory where the sessions are kept, on a disk that stays mounted
package soak
