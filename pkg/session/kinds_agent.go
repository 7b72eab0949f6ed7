package session

import "kagent/pkg/message"

// What the agents conclude. From names the child whose reply it was understood
// of, "" for what is no child's: a later, better parser can't change an old log.

// ChildCreated begins a child: a conversation of its own in the same log, with
// its own task and system prompt. Tools are the session's that it may use;
// Decide names the tool that it has to answer by, "" for an answer in words.
type ChildCreated struct {
	Task    string   `json:"task"`
	System  string   `json:"system"`
	Tools   []string `json:"tools"`
	Decide  string   `json:"decide,omitempty"`
	Model   string   `json:"model,omitempty"` // "": the session's
	Profile string   `json:"profile,omitempty"`
	Asked   string   `json:"asked,omitempty"`  // of a question: a mark of the whole of it, which Task may tell in part
	Before  int64    `json:"before,omitempty"` // of a summary: what it is to tell of, as ContextCompacted says it
	// Artifacts are the whole of what Task tells in part.
	Artifacts []message.Artifact `json:"artifacts,omitempty"`
}

// PlanSet is a plan as it stands: Done are the indexes of finished steps,
// Replans how often the plan was replaced since the task began.
type PlanSet struct {
	Steps   []string `json:"steps"`
	Done    []int    `json:"done"`
	Replans int      `json:"replans"`
	From    string   `json:"from,omitempty"`
}

// RouteSet says whether a task is simple or complex.
type RouteSet struct {
	Complexity string `json:"complexity"`
	Reason     string `json:"reason"`
	From       string `json:"from,omitempty"`
}

// The complexities.
const (
	Simple  = "simple"
	Complex = "complex"
)

// GraphSet is a task graph as it stands. Round counts from 1; each later one
// has added nodes.
type GraphSet struct {
	Round int         `json:"round"`
	Nodes []GraphNode `json:"nodes"`
	From  string      `json:"from,omitempty"`
}

// GraphNode is a part of the work: a child does it once those it needs are
// done.
type GraphNode struct {
	ID      string   `json:"id"`
	Task    string   `json:"task"`
	Needs   []string `json:"needs"`
	Profile string   `json:"profile,omitempty"`
	Round   int      `json:"round"` // that it came with
}

// VerdictGiven judges an answer; Feedback says what is missing.
type VerdictGiven struct {
	OK       bool   `json:"ok"`
	Feedback string `json:"feedback,omitempty"`
	Reply    int64  `json:"reply"` // sequence number of the reply that was judged
	From     string `json:"from,omitempty"`
}

// AnswerAdopted makes a child's answer the scope's own, as if it had been its
// reply.
type AnswerAdopted struct {
	From string `json:"from"`
}

// ApprovalGiven is a person's consent to what a session was paused for.
type ApprovalGiven struct {
	What string `json:"what"` // "plan"
}

// ContextTrimmed says what is no longer sent, by sequence number: entries
// before Before, Turns turns in all, and the tool outputs of replies before
// Outputs.
type ContextTrimmed struct {
	Turns   int   `json:"turns"`
	Before  int64 `json:"before"`
	Outputs int64 `json:"outputs"`
}

// ContextCompacted replaces entries before Before, Turns turns, by a summary.
type ContextCompacted struct {
	Turns   int    `json:"turns"`
	Before  int64  `json:"before"`
	Summary string `json:"summary"`
	Auto    bool   `json:"auto,omitempty"`
	From    string `json:"from,omitempty"`
}

// CompactFailed says that a summary was of no use.
type CompactFailed struct {
	Error *Failure `json:"error"`
	From  string   `json:"from,omitempty"`
}

// Forked says that the events before it are those of the session From, up to
// its event At.
type Forked struct {
	From string `json:"from"`
	At   int64  `json:"at"`
}

// Imported says that the events before it were made of a file, which is kept;
// Format names the program that wrote it. Note is what the model is told. What
// the file counts and no event shows is added here.
type Imported struct {
	Format     string        `json:"format"`
	Origin     string        `json:"origin"` // the id in that file
	Note       string        `json:"note,omitempty"`
	Iterations int           `json:"iterations,omitempty"`
	ToolCalls  int           `json:"toolCalls,omitempty"`
	Usage      message.Usage `json:"usage,omitzero"`
}

// Type returns "child/created".
func (*ChildCreated) Type() Type { return "child/created" }

// Type returns "plan/set".
func (*PlanSet) Type() Type { return "plan/set" }

// Type returns "route/set".
func (*RouteSet) Type() Type { return "route/set" }

// Type returns "graph/set".
func (*GraphSet) Type() Type { return "graph/set" }

// Type returns "verdict/given".
func (*VerdictGiven) Type() Type { return "verdict/given" }

// Type returns "answer/adopted".
func (*AnswerAdopted) Type() Type { return "answer/adopted" }

// Type returns "approval/given".
func (*ApprovalGiven) Type() Type { return "approval/given" }

// Type returns "context/trimmed".
func (*ContextTrimmed) Type() Type { return "context/trimmed" }

// Type returns "context/compacted".
func (*ContextCompacted) Type() Type { return "context/compacted" }

// Type returns "context/compact-failed".
func (*CompactFailed) Type() Type { return "context/compact-failed" }

// Type returns "session/forked".
func (*Forked) Type() Type { return "session/forked" }

// Type returns "session/imported".
func (*Imported) Type() Type { return "session/imported" }
