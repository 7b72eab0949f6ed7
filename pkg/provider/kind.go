package provider

// Kind classifies what went wrong, the same for every vendor.
type Kind string

// The kinds.
const (
	Auth           Kind = "auth"            // the key is missing or wrong
	Permission     Kind = "permission"      // the key may not do this
	Quota          Kind = "quota"           // the account is used up; waiting does not help
	RateLimit      Kind = "rate_limit"      // too many requests; waiting helps
	Overloaded     Kind = "overloaded"      // the service is busy
	ContextLength  Kind = "context_length"  // the request is too long for the model
	InvalidRequest Kind = "invalid_request" // the service does not accept the request
	NotFound       Kind = "not_found"       // no such model or address
	ContentFilter  Kind = "content_filter"  // refused by a policy
	TooLarge       Kind = "too_large"       // more than is taken of one answer
	Server         Kind = "server"          // the service failed
	Network        Kind = "network"         // the connection failed or ended too early
	Timeout        Kind = "timeout"         // no answer, or silence, for too long
	Cancelled      Kind = "cancelled"       // the caller gave up
)

// Internal is the kind of an error that no provider gave.
const Internal Kind = "internal"

// Meaning is all that follows from a kind: what is done about it at once, and
// how a turn and a process end where that was of no use.
type Meaning struct {
	Kind      Kind
	Retry     bool   // the same request may succeed a little later
	Elsewhere bool   // another model of a chain may answer it
	Status    string // of the turn, in the session's words
	Reason    string
	Exit      int // of the process; for a cancelled run 128 and its signal
}

// Meanings lists the kinds. It is the one table from a vendor's error to the
// exit code that a script sees.
func Meanings() []Meaning {
	return []Meaning{
		{Auth, false, false, "failed", "auth", 8},
		{Permission, false, false, "failed", "permission", 8},
		{Quota, false, false, "failed", "quota", 8},
		{RateLimit, true, true, "interrupted", "rate_limit", 75},
		{Overloaded, true, true, "interrupted", "overloaded", 75},
		{ContextLength, false, false, "paused", "context_length", 6},
		{InvalidRequest, false, false, "failed", "invalid_request", 1},
		{NotFound, false, true, "failed", "not_found", 1},
		{ContentFilter, false, false, "failed", "content_filter", 1},
		{TooLarge, false, false, "failed", "incomplete", 1}, // the next one may be as large, and is paid for too
		{Server, true, true, "interrupted", "server", 75},
		{Network, true, true, "interrupted", "network", 75},
		{Timeout, true, true, "interrupted", "timeout", 75},
		{Cancelled, false, false, "cancelled", "", 130},
		{Internal, false, false, "failed", "internal", 1},
	}
}

// Means returns what follows from a kind; one that is not known is Internal.
func (k Kind) Means() Meaning {
	all := Meanings()
	for _, m := range all {
		if m.Kind == k {
			return m
		}
	}
	return all[len(all)-1]
}

// Retryable reports whether the same request may succeed a little later.
func (k Kind) Retryable() bool { return k.Means().Retry }
