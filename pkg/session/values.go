package session

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Status says how a session, or its last turn, stands.
type Status string

// The statuses. Active without a live owner means interrupted by a crash.
const (
	Active      Status = "active"
	Completed   Status = "completed"
	Failed      Status = "failed"
	Paused      Status = "paused"
	Interrupted Status = "interrupted"
	Cancelled   Status = "cancelled"
)

// Reason says why.
type Reason string

// The reasons that this version gives.
const (
	ReasonCrash          Reason = "crash"
	ReasonForked         Reason = "forked" // cut off from a turn that another session has gone on with
	ReasonSignal         Reason = "signal"
	ReasonStorage        Reason = "storage"
	ReasonNetwork        Reason = "network"
	ReasonTimeout        Reason = "timeout"
	ReasonOverloaded     Reason = "overloaded"
	ReasonRateLimit      Reason = "rate_limit"
	ReasonServer         Reason = "server"
	ReasonAuth           Reason = "auth"
	ReasonPermission     Reason = "permission"
	ReasonQuota          Reason = "quota"
	ReasonMaxSteps       Reason = "max_steps"
	ReasonMaxTokens      Reason = "max_tokens"
	ReasonMaxCost        Reason = "max_cost"
	ReasonDeadline       Reason = "deadline"
	ReasonMaxOutput      Reason = "max_output"
	ReasonContextLength  Reason = "context_length"
	ReasonUnknownOutcome Reason = "unknown_outcome"
	ReasonPlan           Reason = "plan"
	ReasonPrompt         Reason = "prompt" // it has no task yet
	ReasonIncomplete     Reason = "incomplete"
	ReasonSchema         Reason = "schema"
	ReasonContentFilter  Reason = "content_filter"
	ReasonInvalidRequest Reason = "invalid_request"
	ReasonNotFound       Reason = "not_found"
	ReasonAttempts       Reason = "attempts" // begun too often without a new step
	ReasonTool           Reason = "tool"     // one that is required did not work
	ReasonInternal       Reason = "internal"
)

// Outcome says how a tool call ended.
type Outcome string

// The outcomes. The first four are the tool's own words.
const (
	OutcomeOK      Outcome = "ok"
	OutcomeError   Outcome = "error"
	OutcomeTimeout Outcome = "timeout"
	OutcomeStopped Outcome = "stopped" // ended with the run that had started it
	OutcomeInvalid Outcome = "invalid" // the arguments did not fit; never run
	OutcomeDenied  Outcome = "denied"  // not allowed; never run
	OutcomeNotRun  Outcome = "not_run" // the turn ended first; never run
	OutcomeUnknown Outcome = "unknown" // begun, and nobody knows what became of it
)

// Verdict is a person's word on a call in doubt.
type Verdict string

// The verdicts.
const (
	VerdictDone    Verdict = "done"
	VerdictNotDone Verdict = "not-done"
	VerdictRerun   Verdict = "rerun"
)

// CallID is the identity of a tool call: the sequence number of its reply and
// the index in it. A vendor's id may repeat or be missing.
type CallID struct {
	Reply int64
	Index int
}

// String returns the form that users see, for example "17.0".
func (c CallID) String() string { return fmt.Sprintf("%d.%d", c.Reply, c.Index) }

// MarshalText returns the String form.
func (c CallID) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the String form.
func (c *CallID) UnmarshalText(b []byte) error {
	reply, index, ok := strings.Cut(string(b), ".")
	r, err1 := strconv.ParseInt(reply, 10, 64)
	i, err2 := strconv.Atoi(index)
	if !ok || err1 != nil || err2 != nil || r < 0 || i < 0 {
		return fmt.Errorf("%q is no call, want for example \"17.0\"", b)
	}
	c.Reply, c.Index = r, i
	return nil
}

// Duration is written as text, for example "10m0s".
type Duration time.Duration

// MarshalText returns the form of time.Duration.String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the form of time.ParseDuration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Settings are all that a session runs with, but secrets: those are named by
// the environment variable that holds them.
type Settings struct {
	Agent        string          `json:"agent"`
	Model        string          `json:"model"`
	BaseURL      string          `json:"baseURL,omitempty"`
	APIKeyEnv    string          `json:"apiKeyEnv,omitempty"`
	Headers      []string        `json:"headers,omitempty"` // "Name: value", or "Name: $VARIABLE"
	System       string          `json:"system"`
	Workdir      string          `json:"workdir"`
	Tools        []string        `json:"tools"`           // names offered to the model
	Allow        []string        `json:"allow,omitempty"` // classes beyond read
	Env          []string        `json:"env,omitempty"`   // variables handed to tools
	Limits       Limits          `json:"limits"`
	OnUnknown    string          `json:"onUnknown"` // tell, stop or rerun
	Profiles     []Profile       `json:"profiles,omitempty"`
	ConfirmPlan  bool            `json:"confirmPlan,omitempty"`
	FailOnDenied bool            `json:"failOnDenied,omitempty"`
	RequireTools []string        `json:"requireTools,omitempty"` // must have worked before a turn is completed
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // that the answer has to fit
	Sampling
	ContextChars int      `json:"contextChars,omitempty"` // budget of one request; 0: by the model's window
	Retries      int      `json:"retries"`
	RetryMaxWait Duration `json:"retryMaxWait"`
	StepTimeout  Duration `json:"stepTimeout"`
	IdleTimeout  Duration `json:"idleTimeout"`
}

// Sampling shapes a model's replies; the zero value leaves all to the service.
type Sampling struct {
	Effort      string   `json:"effort,omitempty"`      // of reasoning: low, medium, high
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2
	MaxOutput   int      `json:"maxOutput,omitempty"`   // tokens of a reply
}

// Profile is an agent that a node of a task graph may be given to. It narrows
// what the session allows: Tools are names, nil for all; Model "" is the
// session's.
type Profile struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools,omitzero"` // an empty list is kept: it is not all
	Model       string   `json:"model,omitempty"`
	System      string   `json:"system"`
}

// Profile returns the profile of that name, nil if there is none.
func (s *Settings) Profile(name string) *Profile {
	for i := range s.Profiles {
		if s.Profiles[i].Name == name {
			return &s.Profiles[i]
		}
	}
	return nil
}
