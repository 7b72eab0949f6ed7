package tool

import (
	"context"
	"encoding/json"

	"kagent/pkg/message"
)

// Class says what a call can do to the world; permissions are given by class.
type Class string

// The classes.
const (
	Read    Class = "read"
	Write   Class = "write"
	Execute Class = "execute"
	Network Class = "network"
)

// Traits say how a call behaves when its outcome is in doubt.
type Traits struct {
	Class Class
	// Idempotent calls may be run again without asking. Read-only tools are
	// idempotent by nature and need not say so.
	Idempotent bool
}

// Repeatable reports whether a call in doubt may simply run again.
func (t Traits) Repeatable() bool { return t.Class == Read || t.Idempotent }

// Tool is one thing that a model can ask for.
//
// Run never returns a Go error: whatever goes wrong is an observation for the
// model. It returns soon after ctx ends, with nothing that it started left
// running, but what it was asked to run in the background: then it is an io.Closer.
// It must be safe for concurrent use.
type Tool interface {
	Spec() message.ToolSpec
	Traits() Traits
	Run(ctx context.Context, call Call) Result
}

// FileChanger is a tool whose effect on one file is known before it runs, so
// that after a crash the file itself tells whether it happened.
type FileChanger interface {
	Tool
	// Change computes what args would do now. A nil change with a nil error
	// means that this call's effect can't be recognised later. The error's
	// text is an observation for the model.
	Change(args json.RawMessage) (*message.FileChange, error)
	// Hash returns the file's present hash as FileChange defines it.
	Hash(path string) (string, error)
}

// Call is one run of a tool.
type Call struct {
	Args json.RawMessage // checked against the tool's schema
	Key  string          // idempotency key: the same for every attempt of a call
	// Artifacts takes output that is too large for the result; nil: it is not kept.
	Artifacts Artifacts
}

// Outcome says how a call ended.
type Outcome string

// The outcomes of a call that ran. Those of calls that did not run are the
// agent's to say.
const (
	OK      Outcome = "ok"
	Failed  Outcome = "error"
	Timeout Outcome = "timeout"
	Stopped Outcome = "stopped" // ended by the caller's ctx
)

// Result is what a call brought.
type Result struct {
	Outcome  Outcome
	Text     string            // valid UTF-8 without NUL, bounded
	ExitCode *int              // of a command, when it ended by itself
	Omitted  int64             // bytes of output that Text leaves out
	Artifact *message.Artifact // the whole output, if Text leaves out some and it was kept
}

// Fail returns a failed result with an explanation for the model.
func Fail(text string) Result { return Result{Outcome: Failed, Text: message.Clean(text)} }

// Success returns a good result.
func Success(text string) Result { return Result{Outcome: OK, Text: message.Clean(text)} }
