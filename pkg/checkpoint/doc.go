// Package checkpoint keeps sessions on a disk: a Store of them, a Journal for
// the one process that runs one, the checkpoint file for everybody else.
//
//	<dir>/<id>.json          the checkpoint: a projection, for readers
//	<dir>/<id>/events.jsonl  the log: the session itself
//	<dir>/<id>/lock          locked while a process may write
//	<dir>/<id>/tools.lock    locked while a process, or a tool it started, lives
//	<dir>/<id>/torn-OFFSET   a torn end that a recovery set aside
//	<dir>/<id>/imported.json the file that the session was made of
//	<dir>/<id>/artifacts/    large outputs of tools, each named by its SHA-256
//	<dir>/<id>/status.json   what a run does right now, for those who watch it; promises nothing
//	<dir>/<id>/undelivered   there while the answer has not reached whoever asked for it
//	<dir>/<id>/inbox/        messages that wait to be taken, see Inbox
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
// The fields before data are these, in this order and form, without spaces, in
// every version: a line that is sealed and says it otherwise is damage. data may
// have fields that are not known here, but of those that are none twice and none
// in another case: encoding/json would take them, jq would not, and nobody would
// know what the session did.
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
// Reserve sets room in the log aside before an effect (fallocate behind the end
// of the file, whose size stays). Close gives back what was not used; so does a
// write that is cut back, and a checkpoint that finds no room.
//
// An artifact is written to artifacts/tmp-N, synced and renamed to its hash;
// artifacts/, and once the directory that holds it, are synced before Keep
// returns. So a line that names an artifact is never there without it. A kill
// before the line leaves an artifact that nothing names, a kill before the name
// a temp file that the next opening removes.
//
// # Verify and repair
//
// Verify reads what a session has, as all readers without a lock: the log by
// the rule above and what the chain can't show (dur, epochs, one result for
// each call, one turn at a time), the checkpoint against the fold of the log up
// to the event that it names, artifacts against their names, who may use the
// files. A torn end, unknown kinds, foreign files are notes.
//
// Repair makes a new session from the lines that are good alone:
//
//  1. Hold the locks of the old session that are there, writing nothing.
//  2. Look at each line for itself; a line whose newline is lost, or that
//     begins in the middle of another, counts. Refuse unknown kinds and versions.
//  3. Order them by seq. Of two that claim one number the one that follows the
//     line before it counts. Where a number is missing, or a line does not follow
//     the one before it, is a hole.
//  4. Replay them into a new log beside its place (events.tmp): a copy as long
//     as there is no hole. Behind one, what refers to a lost event is left out,
//     and what must have happened in it is written down: an end or a beginning of
//     a turn, that a result is unknown.
//  5. Sync. Append session/opened, the calls that are in doubt, session/repaired
//     with all that was lost, turn/end if a turn is open. Sync, rename the log to
//     its place, sync the directories, write the checkpoint.
//
// # Fork
//
// Fork reads the log of a session, without a lock, up to an event or the end of
// a turn, and writes the same events into a new one as a repair does: beside its
// place, synced, renamed. No event before the cut is missing, so numbers, and
// with them the ids and keys of calls, stay. Artifacts are linked, or copied.
//
// # Import
//
// Import makes a session of a file of kagent-ts, or of a checkpoint that has lost
// its log: the events that it tells of are written as they would have been when
// they happened, with their times, then session/imported and how the last turn
// ended. Made as a fork is, it is whole or not at all. A file of kagent-ts that
// stands in the place of a checkpoint is shown as the session that it would
// become, and becomes it when it is opened to be gone on with (Adopt): it is linked
// to imported.json, then the log is put into its place, then the checkpoint
// replaces it. At each moment the original has one of the two names.
//
// # Export and import
//
// An export is a tar archive: a manifest with the SHA-256 of each file, the log
// up to the event that was its last one, the checkpoint at that event, the
// artifacts, the letters that wait, and last the sum of the manifest, so that a
// cut shows. An import checks all of it in a directory of its own; then the log
// is replayed into the new session as for a fork, with session/imported behind it,
// so that it is there whole or not at all.
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
//     behind metadata, so that the first 7.5 KiB are enough for a list. With the
//     last 512 bytes of the log it tells another size and another last line; what
//     was changed before that is found by whoever reads the log.
//   - Only what the user said carries a timestamp among the messages; the log
//     has all times, and the checkpoint stays close to the size of a request.
//   - A checkpoint is compared, while the log is folded, with what its owner must
//     have written at that event. Only where it differs, another version wrote it
//     or it is bad, and it is read as JSON. What was encoded for that serves the
//     next checkpoint.
//   - A session that died behind its checkpoint is listed and shown by a fold that
//     forgets what was said: a log of any size takes the same memory.
//   - Lists in a line or a checkpoint that have more than 65,536 items, and more
//     than one for 16 bytes of it, are refused: they would take many times the
//     memory that they have bytes. A checkpoint is read up to four times the size
//     of its log and 64 MiB.
//   - An artifact that can't be kept ends no run: its bytes are a convenience,
//     the result says that they are missing. It never has the same temp file
//     as another, and a failed write gives its room up at once.
//   - An artifact holds the bytes that the tool brought, unchanged. read_file
//     cleans them like those of any file, each time they are shown.
//   - The room that is asked for is no promise: where the file system can't
//     reserve, or the write fails all the same, a shorter line is tried.
//   - A session with a log longer than its checkpoint knows, and no live owner,
//     is listed by folding its log: it died between sync and checkpoint.
//   - A call whose reply is sound and behind which a hole lies counts as begun:
//     a repair writes a tool/call for it, without a key where that is lost, and
//     the rules for calls in doubt apply. A person's word on it is void, because it
//     may have been followed in the hole. If the model was asked again after it, its
//     result is "unknown" at once: only calls of the last reply can be decided.
//   - The model is told of a hole by a message that session/repaired carries,
//     once no call waits for its result. Without it, it could repeat what it did in
//     replies that are lost, and that would be silent.
//   - Bytes that no hole accounts for may have been events at the end of the log,
//     and so may what a checkpoint that can't be read had promised: both count as
//     a hole at the end. A log that was cut between two lines, behind all that the
//     checkpoint has seen, can't be told from one that ended there.
//   - A repair numbers the events anew, because a log has no gaps; the numbers in
//     the ids of calls move with their replies, keys stay. Up to the first hole
//     all numbers stay as they were. Fields that this version does not know are
//     not carried over; events of unknown kinds refuse the repair.
//   - Without session/created the settings are those of the checkpoint, and the
//     rest is as careful as it can be: defaults, no classes, no variables. A
//     checkpoint that knows later settings than the sound events has the last word
//     on model, tools, limits and system prompt.
//   - The new log is renamed into place, so that a cut repair leaves no session: the
//     beginning of one would show calls that had begun as if they had not.
//   - A completed turn whose answer is lost is not completed: it goes on.
//   - A turn that a fork cuts off ends as "interrupted: forked" in the new session:
//     it is the same work, to be gone on with, but nothing has crashed.
//   - N turns of a fork end with the end of turn N as it was then: what a later
//     process made of it (results for calls that a new prompt left behind, other
//     settings) belongs to the next turn. A fork of no turns has no task: what
//     is said to it first becomes that, and until then it is "paused: prompt".
//   - There is one system prompt: that of the file. System messages are no part of a
//     conversation; where one says something else, it stays as a note.
//   - Words of an assistant that others of his follow are a thought before them, and
//     one reply with them: services refuse two in a row.
//   - A call without a result in a file of kagent-ts gets one, "unknown": nobody has
//     its key, and whether it began is not known either. The file of a run that was
//     killed lacks its last step altogether, which the model is told of.
//   - "completed" is believed only where there is an answer and no node is left over:
//     kagent-ts took the text of a network error for an answer. Then only the join
//     of the results is missing, and a resume does that.
//   - Profiles of its nodes are not taken over: they lived in the program. Tools,
//     limits and model of the new session are those of whoever imports.
//   - What the file counts and its messages don't show (tokens, steps) stands in
//     session/imported, so that the sums are those of the file.
//   - A checkpoint doesn't tell the user's words from those of the agent: imported
//     on purpose, all later ones count as the user's.
//   - A file that is cut off is repaired as a damaged session is: what is whole of it
//     becomes a session of another name.
//   - Verify compares the checkpoint byte for byte, at the event that it names, with
//     what its owner must have written then: owner and status follow from the log.
//     Where another version wrote it, a difference is a note.
package checkpoint
