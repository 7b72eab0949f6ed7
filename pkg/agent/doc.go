// Package agent runs agents. A strategy (react.go) is a pure function from the
// state to the next action; the Runner (runner.go) is the only loop and carries
// actions out (model.go, calls.go); what it appends to the Journal is folded
// into the state, and the strategy is asked again.
//
// There is no resume code: to run is to resume. What is special about calls
// that were begun and never ended is in doubt.go.
//
// A request that would pass its budget is made to fit before it is sent (fit.go,
// summarise.go, session.State.Trim): the strategies know nothing of it.
//
// # Decisions (2026-12-01)
//
//   - Two calls of one reply that change the same file do not run together: the
//     second is prepared when the first is done, because its hash "before" is
//     the first one's "after".
//   - When a signal comes while tools run, the turn is closed and saved first,
//     then the tools are ended. Their calls stay in doubt: what a tool did in
//     its last moment is not known to be all that it would have done.
//   - A new prompt runs no open call, neither again nor at last. Under
//     on-unknown stop it is not taken up before a person has said what became
//     of the call; the turn is closed as paused and says so.
//   - Room for the results is reserved before the intent, not only before the
//     effect: a call that a full disk stops there has not begun and is not in
//     doubt. 64 KiB a call: twice the 32 KiB of output that a result holds.
//     What only reads reserves nothing.
//   - A result that the disk refuses is tried once more with 1 KiB of its text.
//     Where that fails too, how the call ended is told with the error, and the
//     resume finds the call in doubt.
//   - A reply that says nothing is asked for once more, then the turn fails as
//     incomplete: an empty answer with exit code 0 would look like success.
//   - What is sent to a session (inbox.go) is taken up between two steps of its own
//     scope, never between a call and its result, and also right before a turn
//     would end; what comes later waits for the next run. Killed before the event
//     is durable, the letter is still there; killed between that and its removal,
//     the log knows its id and the next run only removes it. Children that run are
//     not told: what begins after it, and the join, see it.
//   - A summary is asked for before anything is left out, because what has left
//     the state can't be summarised any more; once it has failed, not again in the
//     turn. It has to pay: what it takes the place of is at least 30 % of the
//     budget. A fifth of the budget of the newest steps stays as it was said, and
//     so do the user's words in a turn that goes on, the last reply with its
//     results, and an answer that is not whole.
//   - A budget is an aim: where nothing more may be left out the request is sent
//     all the same. Only where the service refuses it, steps of the current turn
//     leave too.
//   - A reply that was cut before its first word is a request that was too long.
//   - A reply cut at the output limit is continued at most three times and
//     joined; then the turn pauses.
package agent
