// Package session is what a session is: a log of events and its fold. It is
// pure: it touches no file, no clock, no goroutine.
//
//   - Event and its kinds (event.go, kinds.go) are what is written down.
//   - State.Apply (apply.go) folds an event; it is total, and the only way to
//     change a State. The same function serves the live run and the replay.
//   - State.View (view.go) is what the model is sent: a projection, never
//     stored. What is left out of it (cut.go) has left the state too, but not the
//     log; State.Trim (trim.go) decides on it.
//   - AgentState (agentstate.go), Steps and Tally (steps.go, stats.go) are what
//     users are shown: what agents concluded, what was done, what it took.
//
// # What happens when the power goes
//
// Every prefix of a log is a session. One step writes, in this order:
//
//	step/start, request/header          not synced
//	assistant/chunk …                   not synced; only to show a cut answer
//	request/retried                     synced, before the next attempt is heard
//	assistant/message, tool/call …      synced before a tool starts
//	tool/result …, step/end             synced, then the checkpoint is replaced
//	turn/end                            synced, then the checkpoint, then the answer on stdout
//
// So, whatever line is the last one that reached the disk:
//
//	session/created      the task is in it: the first turn begins anew
//	user/message         a turn that took it up is missing: it begins
//	turn/start           the model is asked
//	step/start, chunks   the reply was not finished: the model is asked again
//	request/retried      the same; what the failed attempt had cost is counted
//	assistant/message    its calls were not begun: they run
//	tool/call            the call is in doubt: see agent/doubt.go
//	tool/result          the next call, or the next step
//	step/end             the next step
//	turn/end             the session stands as it says
//
// A child (see package agent) writes the same lines under its own scope, from
// child/created to its turn/end; several at once write in any order, and each
// finds its own last line. What the parent understood of it (plan/set,
// graph/set, …) is written when the child has ended: cut between the two, the
// parent reads the child's reply again. Only the session's own turn is closed
// when a process takes the log; the children's stay open and go on.
//
// There is no resume code for this: the strategy looks at the state and says
// what comes next. A process that opens a log with an open turn first closes
// it as "interrupted: crash" and goes on with turn/start {continues: n}.
//
// # Decisions (2026-12-01)
//
//   - The task stands in session/created, whole, and user/message {source:
//     task} only points to it: a log cut after its first line still knows what
//     it is for, and a long prompt is not stored twice.
//   - A user's message is written before the turn/start that takes it up. Cut
//     between the two, the prompt is not lost: whoever opens the log next finds
//     a message that no turn has heard, and the session is not completed.
//   - A new prompt on a turn that was cut gives each of its open calls a result
//     ("not run", or "outcome unknown") instead of running them: what the user
//     says now may well be that they should not run.
//   - Only calls of the reply that ends the conversation can change. What the
//     model was told of those before it stays, so that settled messages never
//     have to be made, encoded or paid for again.
//   - A turn that was interrupted goes on with all its counters, as if nothing
//     had happened. Where it had stopped by itself (paused, failed), whoever
//     goes on with it wants more: Turn.Since moves, the steps stay.
//   - A call's id towards the model is the vendor's own where that is legal
//     everywhere and unique in the history, else one made of its identity.
//     Vendors repeat ids, leave them out, or use characters that others refuse.
//   - Watermarks are folded into the entries: what has left is not held any more,
//     so that a session of any length takes the memory of one request. The words
//     of the user that a turn is about never leave while it goes on; where the
//     work goes on in a later turn, they are repeated after the system prompt.
//   - Tokens are counted by the service alone. How many characters they have is
//     learnt from what was sent and what was billed for it.
//   - "Empty" and "none" differ: Pending returns no calls both for a reply
//     without calls and for one whose results are all there; which of the two it
//     is says the reply (LastReply().Calls), and only the first ends a turn.
//   - What a repair could not save is told to the model by the fold itself, when
//     no call waits for its result: session/repaired carries the words, and no
//     strategy has to know of it.
package session
