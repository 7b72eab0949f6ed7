// Package agent runs agents. A strategy (react.go, plansolve.go, fusion.go,
// orchestrator.go) is a pure function from the state to the next action; the
// loop (run.go) is the only one and carries actions out (model.go, calls.go,
// spawn.go); what it appends to the Journal is folded into the state, and the
// strategy is asked again.
//
// There is no resume code: to run is to resume. What is special about calls
// that were begun and never ended is in doubt.go.
//
// # From another program
//
// A [Runner] needs a Journal, which kagent/pkg/checkpoint makes (Store.Create,
// Store.Open), and a Provider, of kagent/pkg/provider and the packages below it
// or one's own; all else has a default. The examples show how a session is
// created, run, resumed, and given a tool of one's own.
//
// # Children
//
// What an agent asks aside (a plan, a route, a verdict) and each node of a task
// graph is a child: a scope of its own in the same log, run by the same loop
// with a strategy of its own. Its name follows from the state ("plan-2",
// "node/fetch/try-2"), so that whoever goes on with the session finds the child
// that had begun, and no reply is paid for twice. A decision is asked for by a
// tool that has to be called, else read out of the words (decide.go, words.go,
// extract.go); what was understood is an event of its own.
//
// A child has a goroutine, but only the one that holds the floor touches the
// journal and its state, and it is given up only while a model, a tool or a
// child is waited for (Runner.outside): between two waits nothing changes under
// anybody's feet. What ends a child by itself (an answer, a failure of its own)
// is written down in its scope. What would end any of them (a network that is
// down, a key that is refused, a limit, a question to a person) ends the
// session's turn and leaves the child open: the siblings end what they do, and
// a resume goes on with all of them.
//
// A request that would pass its budget is made to fit before it is sent (fit.go,
// summarise.go, session.State.Trim): the strategies know nothing of it.
//
// # Decisions (2026-12-01)
//
//   - A plan, a route and a graph live until a turn has completed the task:
//     interrupted, paused or failed work is gone on with, whatever the user says
//     in between; what is said after a completed turn is another task.
//   - A step of a plan is marked by the model alone. An answer that comes before
//     all are marked is held back once; then the turn fails as incomplete. Only
//     the one-step plan that stands in for one that could not be had is done by
//     the answer: nobody was told to mark it.
//   - A step fails if all that it did failed, by what the tools said and never by
//     their words; two in a row ask for another plan.
//   - Where a person wants a plan changed, the changed one waits for consent too.
//   - A note that stands at the end of a request is part of the last message, not
//     one of its own: models and servers take that for a new turn of the user's.
//   - Calls of one reply run together as far as nobody could tell (order.go). What
//     reads or changes a file that an earlier call changes is prepared when that one
//     is done, also because its hash "before" is the first one's "after". A command
//     may touch any file, so that it waits for writes and they for it; commands
//     run together.
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
//   - What a child is told fits into the budget, too: the task first, the rest in
//     equal shares, with a note of what is missing and, where the child can read it,
//     where the whole is kept. How much that is differs from one process to the
//     next (another model, another measure of tokens), so that a question is known
//     by a mark of the whole, not by what was told of it.
//   - A budget is an aim: where nothing more may be left out the request is sent
//     all the same. Only where the service refuses it, steps of the current turn
//     leave too.
//   - A reply that was cut before its first word is a request that was too long.
//   - A key that the service was sent, and sends back, is masked wherever it stands in
//     a reply, in every spelling that package secret knows. Other secrets are masked
//     in text and unsigned thoughts alone: in the arguments of a call a variable's
//     value may be a word like "production", and a model that was never shown a
//     secret writes none. The masked call is refused, as the log has it: nothing is
//     done with a mask, and a resume sees what the run saw.
//   - What is masked in a reply's text is named with it (Masked), and the user is
//     told: an answer changed in silence is a wrong answer.
//   - What a vendor has signed is never sent back altered. Where a key was in what
//     a signature covers, or in the vendor's data themselves, the thought stays
//     masked for people and is left out of requests, and so is all that the vendor's
//     data say of that reply, as if another model had made it (message.Masked).
//   - A reply cut at the output limit is continued at most three times and
//     joined; then the turn pauses.
package agent
