package session

import (
	"strings"
	"time"

	"kagent/pkg/message"
)

// State is the fold of a log. Only Apply changes it.
type State struct {
	ID         string
	Schema     string
	Version    string // of the program that wrote last
	Task       string
	PromptHash string
	Settings   Settings
	Created    time.Time
	Updated    time.Time
	Seq        int64
	Epoch      int64
	Owner      Opened    // the last process that took the session
	OwnedSince time.Time // when it did
	Attempts   int       // openings since the last finished step
	Removed    bool
	Usage      message.Usage
	Spent      float64 // US dollars, of the replies and failed attempts whose price is known
	Unpriced   int     // those whose price is not
	Unmetered  int     // replies of which the service said no usage
	Iterations int     // finished replies, children included
	ToolCalls  int     // results of calls that ran
	Denied     []string
	UnknownOf  []Type // kinds that this version does not know

	measured measured // how long tokens are
	spoken   bool     // the user or the model has said something in the session's own scope

	scopes map[string]*Scope
	taken  map[string]bool // letters of the inbox
	used   used

	Active time.Duration // how long turns were worked on
}

// Scope is one conversation in the session: its own, or a child's.
type Scope struct {
	Name    string
	Child   *ChildCreated // how it began; nil for the session's own
	First   int64         // number of its first event
	Created time.Time     // when that was
	Updated time.Time     // when its last event was
	Turn    Turn
	Work    Work
	Entries []Entry
	Steps   int          // finished replies
	InStep  bool         // a step has begun and not ended
	Tries   int          // attempts at the reply that is awaited, retries included
	partial []byte       // what was streamed of it
	heard   int          // entries that a turn has taken up
	owed    *UserMessage // told once no call waits for its result

	Cut     Cut
	Summing Summing
	Asked   int      // characters of the last request, 0 where that is not known
	Refused int      // characters of the request that its service found too long, 0 for none
	Refusal *Failure // its words
	sent    int      // characters of the request that is under way
	moves   int      // how often entries have left or outputs were omitted
	taskAt  int64    // where the session's task stands
	answer  string   // of a turn whose words have left

	concluded map[string]int // see Concluded
}

// Turn is the current or last turn of a scope; N is 0 before the first.
type Turn struct {
	N       int
	Open    bool
	Steps   int   // finished replies in this turn
	Since   int64 // seq of the turn/start that opened it, or went on after it had stopped by itself
	First   int   // index of its first entry
	Status  Status
	Reason  Reason
	Error   *Failure
	RetryAt time.Time
	Ended   time.Time // when it was closed
}

// Entry is what the conversation holds: exactly one of User and Reply is set.
type Entry struct {
	Seq   int64
	Time  time.Time
	User  *UserMessage // with its text, also for FromTask
	Reply *Reply
}

// Reply is a model's answer with the calls it asked for.
type Reply struct {
	AssistantMessage
	Calls []*Call
}

// Call is a tool call on its way from wish to result.
type Call struct {
	ID      CallID
	Wire    message.ToolCall // as the model said it
	Attempt int              // attempts begun, 0 when none
	Key     string
	Change  *message.FileChange
	Verdict *OutcomeSettled
	Result  *ToolResult
	Ended   time.Time // when the result was recorded
}

// InDoubt reports whether the call was begun and nobody knows how it ended.
func (c *Call) InDoubt() bool { return c.Result == nil && c.Attempt > 0 }

// Took reports whether a letter of that id was taken up.
func (s *State) Took(id string) bool { return s.taken[id] }

// Scope returns the scope of that name, nil when nothing happened in it.
func (s *State) Scope(name string) *Scope { return s.scopes[name] }

// Main returns the session's own scope; it is never nil.
func (s *State) Main() *Scope {
	if sc := s.scopes[""]; sc != nil {
		return sc
	}
	return &Scope{}
}

// Cost is what the session has cost in US dollars, nil if a reply's price is
// not known.
func (s *State) Cost() *float64 {
	if s.Unpriced > 0 || s.Iterations == 0 && s.Spent == 0 {
		return nil
	}
	spent := s.Spent
	return &spent
}

// Status returns how the session stands by its log alone. A log can't know
// whether its writer lives: Active without a live owner is a crash. What the
// user said and no turn has taken up is work to do, whatever came before.
func (s *State) Status() (Status, Reason) {
	sc := s.Main()
	t := sc.Turn
	if s.Blank() {
		return Paused, ReasonPrompt
	}
	if t.N == 0 || t.Open || sc.Unheard() {
		return Active, ""
	}
	return t.Status, t.Reason
}

// Blank reports whether the session has nothing to do yet: only its settings
// are known.
func (s *State) Blank() bool {
	return s.Schema != "" && blank(s.Task) && s.Main().Turn.N == 0 && !s.spoken
}

// Unheard reports whether the user said something that no turn has taken up.
func (sc *Scope) Unheard() bool { return len(sc.Entries) > sc.heard }

// Begun reports whether anything was said, though it may have left since.
func (sc *Scope) Begun() bool { return len(sc.Entries) > 0 || sc.Cut.Before > 0 }

// LastReply returns the reply that ends the conversation, nil when somebody
// else spoke after it or nobody has.
func (sc *Scope) LastReply() *Reply {
	if len(sc.Entries) == 0 {
		return nil
	}
	return sc.Entries[len(sc.Entries)-1].Reply
}

// Pending returns the calls of the last reply that have no result. An empty
// list is not the end of the turn: the model has yet to see the results.
func (sc *Scope) Pending() []*Call {
	r := sc.LastReply()
	if r == nil {
		return nil
	}
	var calls []*Call
	for _, c := range r.Calls {
		if c.Result == nil {
			calls = append(calls, c)
		}
	}
	return calls
}

// Answer joins the text of the last reply with those before it that were cut
// at the output limit and continued. Replies that say nothing don't count; what
// was said beside calls is on the way to the answer, and none of it.
func (sc *Scope) Answer() string {
	if sc.answer != "" {
		return sc.answer
	}
	var b strings.Builder
	for _, e := range sc.Entries[sc.answerFrom():] {
		if e.Reply != nil && !e.Reply.Blank() {
			b.WriteString(e.Reply.Text())
		}
	}
	return b.String()
}

// Masked are the replies of the answer in whose text something was masked.
func (sc *Scope) Masked() (replies []*Reply) {
	for _, e := range sc.Entries[sc.answerFrom():] {
		if e.Reply != nil && len(e.Reply.Masked) > 0 {
			replies = append(replies, e.Reply)
		}
	}
	return replies
}

// answerFrom is where the entry stands that the answer begins with.
func (sc *Scope) answerFrom() int {
	from := len(sc.Entries)
	for i := len(sc.Entries) - 1; i >= sc.Turn.First; i-- {
		e := sc.Entries[i]
		if e.User != nil && e.User.Source == FromAgent || e.Reply != nil && e.Reply.Blank() {
			continue
		}
		if e.Reply == nil || len(e.Reply.Calls) > 0 || from < len(sc.Entries) && e.Reply.Stop != message.StopLength {
			break
		}
		from = i
	}
	return from
}

// Draft is what there is of an answer while it is not complete: replies that
// were cut, and what was streamed since. What was said beside tool calls is no
// part of it.
func (sc *Scope) Draft() string {
	if sc.answer != "" {
		return sc.answer + sc.Partial()
	}
	for i := len(sc.Entries) - 1; i >= sc.Turn.First; i-- {
		if r := sc.Entries[i].Reply; r != nil {
			if len(r.Calls) > 0 {
				break
			}
			return sc.Answer() + sc.Partial()
		}
	}
	return sc.Partial()
}

// Partial is what was streamed of the reply that is awaited.
func (sc *Scope) Partial() string { return string(sc.partial) }

// Text joins the text parts of the reply.
func (r *Reply) Text() string { return message.Message{Parts: r.Parts}.Text() }

// Blank reports whether the reply says nothing and asks for nothing. Some
// models think aloud, between tags: that alone is nothing said, unless the
// reply was cut, where more may follow.
func (r *Reply) Blank() bool {
	text := r.Text()
	if r.Stop != message.StopLength {
		text = beyondThoughts(text)
	}
	return len(r.Calls) == 0 && blank(text)
}

// beyondThoughts returns what follows the thoughts that a text begins with.
func beyondThoughts(text string) string {
	for _, tag := range []string{"think>", "thinking>"} {
		for {
			thought, ok := strings.CutPrefix(strings.TrimSpace(text), "<"+tag)
			if !ok {
				break
			}
			_, text, _ = strings.Cut(thought, "</"+tag)
		}
	}
	return text
}
