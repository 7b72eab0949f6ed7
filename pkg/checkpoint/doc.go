// Package checkpoint keeps sessions on a disk: a Store of them, a Journal for
// the one process that runs one, the checkpoint file for everybody else.
//
//	<dir>/<id>.json          the checkpoint: a projection, for readers
//	<dir>/<id>/events.jsonl  the log: the session itself
//	<dir>/<id>/lock          locked while a process may write
//	<dir>/<id>/tools.lock    locked while a process, or a tool it started, lives
//	<dir>/<id>/torn-OFFSET   a torn end that a recovery set aside
//
// # The line
//
//	{"crc":"9f3a01c7","prev":"51b20e44","dur":14,"seq":17,"epoch":2,"time":…,"scope":"","type":…,"data":{…}}
//
// crc is the CRC-32C (Castagnoli) of the bytes between the comma after it and
// the newline. prev is the crc of the line before (0 for the first), so a line
// can be checked alone and in the chain. dur is the highest seq that was known
// to be durable when the line was written. epoch is the fencing number of the
// writer: one more at each opening.
//
// # Torn or damaged
//
// The first bad line X (cut, wrong crc, out of sequence, or not following the
// line before) splits the log. X is damage if and only if a good line after it
// has dur ≥ X, or the checkpoint has seen X: it had been promised. Otherwise
// everything from X on is torn. Unsynced lines may reach a disk in any order,
// so that good lines after a hole prove nothing.
//
// # Opening is recovery
//
//  1. Take the lock of the session, then that of its tools: while a tool of a
//     dead run lives, nothing runs.
//  2. Read what the checkpoint promises, as far as it can be read.
//  3. Fold the log. Damage: stop, nothing was changed.
//  4. Refuse kinds of events and versions that this program does not know.
//  5. Set aside a checkpoint that can't be read: not sooner, because it may be
//     all that knows of a promise. Torn: copy the bytes to torn-OFFSET, durably,
//     then cut them off.
//  6. Sync the log, its directory and that of all sessions: the last owner may
//     have died before its own sync, and what follows builds on what was read.
//  7. Append session/opened, log/repaired if something was torn, and turn/end
//     interrupted: crash if a turn was open. Sync.
//
// # Writing
//
// Append writes all its lines in one write at the known end. Before each write
// a fence checks that log and lock are still the files that were opened and the
// log as long as it was left. A failed or short write is cut back. A failed
// sync is final: the kernel may have dropped the pages, a second sync would
// succeed and prove nothing. Commit replaces the checkpoint by way of a temp
// file of a fixed name, so that it is whole at every instant.
//
// # What is not defended against
//
// A disk that lies about flushes; a file system without locks; somebody who
// may write to the directory and wants to deceive (the crc is no signature).
//
// # Decisions (2026-12-01)
//
//   - A checkpoint that can't be read does not stop a session: it is a
//     projection, the log is whole by its own chain. It is kept as
//     checkpoint.damaged, the user is warned, and a new one is made.
//   - The temp file lies in the session's directory, not beside the checkpoint:
//     a kill leaves nothing that could be taken for a session.
//   - Fields that may grow (settings, answer, agentState, systemPrompt) stand
//     behind metadata, so that the first 8 KiB are enough for a list.
//   - Only what the user said carries a timestamp among the messages; the log
//     has all times, and the checkpoint stays close to the size of a request.
//   - A session with a log longer than its checkpoint knows, and no live owner,
//     is listed by folding its log: it died between sync and checkpoint.
package checkpoint
