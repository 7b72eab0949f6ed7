// Package providertest holds every adapter to the same promises. An adapter's
// test describes the adapter and its protocol once, in an Adapter, and calls
//
//	Run            hand-made bytes of every shape seen in the field
//	LeftOut        refusals of what a request can do without
//	WrongTypes     recorded answers with a value of another type in each field
//	CutAnywhere    recorded streams, ended after each byte
//	Recorded       recorded answers of real services, over HTTP
//	Conversations  recorded conversations, what the vendor wants back included
//	RecordedErrors recorded errors and their kinds
//	Report         these three for all adapters, counted
//	Quirks         a strict fake server that bends the wire
//	Scenarios      whole conversations with that server
//	Fuzz           any bytes at all
//
// All but the first two and the last need the collection that is kept outside of
// this repository; see Shared.
package providertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Options is what New is given.
type Options struct {
	BaseURL    string
	Key        string
	HTTPClient *http.Client // nil: the adapter's own
	Idle       time.Duration
}

// Adapter describes an adapter and how its protocol looks on the wire.
type Adapter struct {
	Protocol string                                   // as the collection calls it, for example "openai-chat"
	ID       string                                   // what messages of its model m carry as message.Message's Model
	New      func(Options) (provider.Provider, error) // for a model named m
	Wire     Wire
}

// Wire makes the bytes of a protocol.
type Wire struct {
	NDJSON  bool                         // one JSON value a line, else server-sent events
	Answer  func(Answer) []Event         // a whole stream that says this
	Error   func(message string) []Event // the end of a stream in which an overloaded server says so
	Body    func(message string) string  // the body of an error with a status of its own
	Unknown []Event                      // events of no known meaning
	Ends    bool                         // the last event of an answer is the end: nothing is read after it
}

// Event is one event of a stream, or one line.
type Event struct{ Type, Data string }

// Answer is what a stream says, in this order: reasoning, text, calls. The
// reasoning and the text come in pieces, which are JSON string literals: they
// may hold half characters.
type Answer struct {
	Reasoning, Text []string
	Calls           []Call
	End             End
	Usage           message.Usage // Reasoning and CacheRead where the protocol has them
}

// Call is a tool call; Arguments is any text. Where the protocol has a JSON
// value in place of it, text that is no JSON is sent as a string.
type Call struct{ ID, Name, Arguments string }

// End says how a stream ends.
type End string

// The ends. Unknown is a terminal state that the protocol doesn't have (yet).
const (
	Finished End = ""
	AtLimit  End = "length"
	Filtered End = "filter"
	Unknown  End = "unknown"
	Full     End = "full" // the window is, not the answer's limit
	Calling  End = "call" // by a call, whether there is one or not; not every protocol says so
)

// Literals cuts s into JSON string literals of at most n characters each.
func Literals(s string, n int) []string {
	var list []string
	for r := []rune(s); len(r) > 0; {
		cut := min(n, len(r))
		list = append(list, literal(string(r[:cut])))
		r = r[cut:]
	}
	return list
}

func literal(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string: can't fail
	return strings.TrimSpace(b.String())
}

// key is the credential of all tests; no error may show it.
const key = "test-SECRETKEY123"

// open makes a provider for a host named test.
func (a Adapter) open(t testing.TB, o Options) provider.Provider {
	t.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "http://test/base"
	}
	if o.Key == "" {
		o.Key = key
	}
	p, err := a.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
