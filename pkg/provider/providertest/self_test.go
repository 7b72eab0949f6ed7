package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// ownProtocol is an adapter for a protocol of our own, one JSON value a line, that
// can be told to commit a sin.
type ownProtocol struct {
	http *sse.Client
	o    sse.Service
	sin  string
}

// line is one event of it. A text that is a literal may hold half a character.
type line struct {
	Think, Text     json.RawMessage
	ID, Name        string
	Call            bool
	Arguments       string
	End, Error, Why string
	Usage           json.RawMessage
}

// tokens are what a usage says.
type tokens struct{ Input, Output, CacheRead, Reasoning, Total sse.Count }

func (l ownProtocol) usage(raw json.RawMessage) (m message.Usage) {
	var u sse.Lax[tokens]
	if json.Unmarshal(raw, &m) == nil && l.sin == "believes any number" || json.Unmarshal(raw, &u) != nil {
		return m
	}
	t := u.Is
	m = message.Usage{Input: t.Input.N(), Output: t.Output.N(), CacheRead: t.CacheRead.N(), Reasoning: t.Reasoning.N(), Total: t.Total.N()}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return sse.Told(m, t.Input, t.Output)
}

func (l ownProtocol) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	body, err := sse.Encode(req)
	if l.sin == "dirty request" {
		body = append([]byte(`{"half":"\ud83d",`), body[1:]...)
	}
	if l.sin == "changes the request" && len(req.Tools) > 0 {
		req.Tools[0].Schema[0] = ' '
	}
	if err != nil {
		return provider.Reply{}, err
	}
	http, err := l.o.Open()
	if err != nil {
		return provider.Reply{}, err
	}
	if l.sin == "key in the address" {
		http.Address += "?key=" + l.o.APIKey
	}
	a, err := http.Post(ctx, http.Address, http.Header, body)
	if err != nil {
		return provider.Reply{}, err
	}
	defer a.Close()
	if a.Status != 200 {
		if l.sin == "everything is the server's fault" {
			return provider.Reply{}, http.Fail(provider.Server, a.Status, "it failed")
		}
		return provider.Reply{}, http.Refused(ctx, a)
	}
	l.http = http
	return l.read(ctx, a, emit)
}

func (l ownProtocol) read(ctx context.Context, a *sse.Answer, emit func(provider.Event)) (provider.Reply, error) {
	first, err := a.FirstByte()
	if err == nil && first == '<' {
		return provider.Reply{}, l.http.LoginPage(a)
	}
	var think, text sse.Joiner
	var calls []message.Part
	for dec := json.NewDecoder(a.Body); err == nil; {
		var v line
		switch err = dec.Decode(&v); {
		case err != nil:
		case !sse.IsNull(v.Text) && !sse.IsString(v.Text) && l.sin != "loses what is no text":
			err = errors.New("Text is no text")
		case v.Error != "":
			return provider.Reply{}, l.http.InStream([]byte(fmt.Sprintf(`{"error":%q,"type":%q}`, v.Error, v.Why)))
		case sse.IsString(v.Think):
			emit(provider.Event{Reasoning: think.Add(v.Think)})
		case sse.IsString(v.Text):
			emit(provider.Event{Text: text.Add(v.Text)})
		case v.Call:
			calls = append(calls, l.call(v))
		case v.End != "":
			emit(provider.Event{Reasoning: think.End()})
			emit(provider.Event{Text: text.End()})
			return l.reply(v, think.String(), text.String(), calls)
		}
		if l.sin == "says it twice" && v.Text != nil {
			emit(provider.Event{Text: "again"})
		}
	}
	return l.broken(ctx, err, text.String(), calls)
}

func (l ownProtocol) call(v line) message.Part {
	if v.Arguments == "" || l.sin == "mends arguments" && !isObject(v.Arguments) {
		v.Arguments = "{}"
	}
	return message.Call(message.ToolCall{ID: v.ID, Name: message.Clean(v.Name), Arguments: v.Arguments})
}

func (l ownProtocol) reply(v line, think, text string, calls []message.Part) (provider.Reply, error) {
	stop := message.StopReason(v.End)
	switch {
	case v.End == "unknown" && l.sin != "every end is one":
		return provider.Reply{}, l.http.Fail(provider.Server, 0, "ended by %q", v.End)
	case v.End == "context_length" && l.sin != "a full window is a limit":
		return provider.Reply{}, l.http.Ended("End", v.End, "")
	case v.End == "tool_calls" && calls == nil && l.sin != "a lost call is none":
		return provider.Reply{}, l.http.NoCall("End", v.End)
	case v.End == "stop" && calls != nil:
		stop = message.StopCalls
	}
	r := provider.Reply{Stop: stop, Usage: l.usage(v.Usage), Model: "m"}
	if think != "" {
		r.Parts = append(r.Parts, message.Part{Type: message.TypeReasoning, Text: think})
	}
	if text != "" {
		r.Parts = append(r.Parts, message.Text(text))
	}
	if l.sin == "loses a call" {
		calls = calls[:min(len(calls), 1)]
	}
	r.Parts = append(r.Parts, calls...)
	return r, nil
}

// broken judges a stream that ended without an end.
func (l ownProtocol) broken(ctx context.Context, err error, text string, calls []message.Part) (provider.Reply, error) {
	var failed *provider.Error
	switch {
	case ctx.Err() != nil && l.sin != "forgets the caller's cause":
		return provider.Reply{}, context.Cause(ctx)
	case l.sin == "an end is the end" && (err == io.EOF || err == io.ErrUnexpectedEOF):
		return l.reply(line{End: "stop"}, "", text, calls)
	case errors.As(err, &failed):
		return provider.Reply{}, failed
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return provider.Reply{}, l.http.Fail(provider.Network, 0, "cut")
	}
	if l.sin == "Go's words" {
		return provider.Reply{}, l.http.Fail(provider.Server, 0, "odd: %v", err)
	}
	return provider.Reply{}, l.http.Odd(err)
}

func ownAdapter(sin string) Adapter {
	value := func(v any) Event {
		b, _ := json.Marshal(v)
		return Event{Data: string(b)}
	}
	return Adapter{
		Protocol: "lines", ID: "lines/m",
		New: func(o Options) (provider.Provider, error) {
			s := sse.Service{Path: "/l", Options: sse.Options{
				Name: "lines", Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient, IdleTimeout: o.Idle,
			}}
			_, err := s.Open()
			return ownProtocol{o: s, sin: sin}, err
		},
		Wire: Wire{
			NDJSON: true, Ends: true,
			Answer: func(a Answer) (list []Event) {
				for _, s := range a.Reasoning {
					list = append(list, Event{Data: `{"Think":` + s + `}`})
				}
				for _, s := range a.Text {
					list = append(list, Event{Data: `{"Text":` + s + `}`})
				}
				for _, c := range a.Calls {
					list = append(list, value(line{Call: true, ID: c.ID, Name: c.Name, Arguments: c.Arguments}))
				}
				end := map[End]string{Finished: "stop", AtLimit: "length", Filtered: "content_filter", Unknown: "unknown", Full: "context_length", Calling: "tool_calls"}[a.End]
				return append(list, value(line{End: end, Usage: json.RawMessage(value(a.Usage).Data)}))
			},
			Error:   func(s string) []Event { return []Event{value(line{Error: s, Why: "overloaded_error"})} },
			Body:    func(s string) string { return value(map[string]string{"error": s}).Data },
			Unknown: []Event{{Data: `{"mood":"calm"}`}},
		},
	}
}

func TestAnHonestAdapterPasses(t *testing.T) { Run(t, ownAdapter("")) }

const sinVariable = "PROVIDERTEST_SIN"

// TestSinner fails, on purpose, in a process of its own: see below.
func TestSinner(t *testing.T) {
	sin := os.Getenv(sinVariable)
	if sin == "" {
		t.Skip("is run by TestEverySinIsFound")
	}
	Run(t, ownAdapter(sin))
}

// Each promise that an adapter can break is kept by a test that then fails.
func TestEverySinIsFound(t *testing.T) {
	for sin, test := range map[string]string{
		"dirty request":                    "a_reply_goes_back",
		"changes the request":              "a_request_is_not_changed_by_this",
		"key in the address":               "secrets",
		"everything is the server's fault": "statuses",
		"says it twice":                    "what_the_reply_says",
		"mends arguments":                  "arguments",
		"every end is one":                 "ends",
		"a full window is a limit":         "ends",
		"a lost call is none":              "ends",
		"loses a call":                     "what_the_reply_says",
		"forgets the caller's cause":       "the_caller's_end",
		"an end is the end":                "cut_anywhere",
		"Go's words":                       "wrong_types",
		"loses what is no text":            "wrong_types",
		"believes any number":              "odd_usage",
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSinner$/^"+test+"$")
		cmd.Env = append(os.Environ(), sinVariable+"="+sin)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestSinner/"+test+" ") {
			t.Errorf("%s is not found by %s: %v\n%.2000s", sin, test, err, out)
		}
	}
}
