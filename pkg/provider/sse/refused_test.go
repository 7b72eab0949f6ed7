package sse

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"kagent/pkg/provider"
)

// refusedWith is the message of an answer with status 500 and this body.
func refusedWith(t *testing.T, text string) string {
	t.Helper()
	c := client(func(r *http.Request) (*http.Response, error) {
		resp, _ := body(strings.NewReader(text))(r)
		resp.StatusCode = 500
		return resp, nil
	})
	a, err := c.Post(t.Context(), "http://host", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return failed(t, c.Refused(t.Context(), a), provider.Server).Message
}

// Of an answer that is no success the message is shown, wherever it is in it,
// and never the JSON around it.
func TestTheMessageIsTakenOutOfAnAnswer(t *testing.T) {
	trace := `"trace":["` + strings.Repeat("frame ", 400_000) + `"]`
	for text, want := range map[string]string{
		`{"error":{"message":"m"}}`:                                         "m",
		`{"error":{"message":"m",` + trace + `}}`:                           "m", // cut off
		`{` + trace[:600] + `"],"error":{"message":"m"}}`:                   "m",
		`{"error":{"message":"m \"q\" \u00e9 cut`:                           `m "q" é cut`,
		`{"errors":[{"title":"T","detail":"d"}]}`:                           "d",
		`{"status":"fail","reason":"r"}`:                                    "r",
		`{"error":"invalid_grant","error_description":"it is old"}`:         "invalid_grant: it is old",
		`{"Message":"m","__type":"X"}`:                                      "m",
		`{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}`:       "inner",
		`{"error":{"message":"x: 400 {\"error\":{\"message\":\"in\"}} y"}}`: "x: 400 in",
		`{"error":{"message":"[1113][no balance]"}}`:                        "[1113][no balance]",
		`{"error":{"message":"use {name} or {\"a\":1}"}}`:                   `use {name} or {"a":1}`,
		`"just text"`:            "just text",
		"upstream connect error": "upstream connect error",
		"":                       "host gave no reason",
		"null":                   "host gave no reason",
		" [ ] ":                  "host gave no reason",
		"{}":                     "host gave no reason",
		`{"key":"SECRETKEY123"}`: `host gave an answer of 22 bytes that is no error message (it begins: {"key":"***"})`,
		"{'error': 'of Python'}": "host gave an answer of 22 bytes that is no error message (it begins: {'error': 'of Python'})",
		"Traceback\n" + strings.Repeat("x ", 500):                    "host gave an answer of 1010 bytes that is no error message (it begins: Traceback " + strings.Repeat("x ", 35) + "…)",
		"<?xml version='1.0'?><Error><Code>Denied</Code></Error>":    "host answered with an XML document (Denied)",
		"<html><title>502 Bad Gateway</title><body>{\"a\":1}</body>": "host answered with an HTML page (502 Bad Gateway)",
	} {
		if got := refusedWith(t, text); got != want {
			t.Errorf("%.100q: %q, want %q", text, got, want)
		}
	}
	for _, before := range []int{70, 75, 79} { // where the text is cut
		for _, page := range []string{"", "<p>"} {
			if got := refusedWith(t, page+strings.Repeat("x", before)+"SECRETKEY123"+strings.Repeat("x", 300)); strings.Contains(got, "SEC") {
				t.Error(got)
			}
		}
	}
	if got := refusedWith(t, strings.Repeat("x", 3<<20)); !strings.HasPrefix(got, "host gave a very long answer") {
		t.Error(got)
	}
}

// What an answer is about is known by the words that are not shown too.
func TestALongAnswerKeepsItsKind(t *testing.T) {
	body := "Traceback" + strings.Repeat(" ", 1000) + "maximum context length" + strconv.Itoa(8192)
	if kind := client(nil).failure(400, []byte(body)).Kind; kind != provider.ContextLength {
		t.Error(kind)
	}
	if kind := client(nil).failure(400, []byte(`{"error":{"code":"context_length_exceeded","message":"m`)).Kind; kind != provider.ContextLength {
		t.Error(kind)
	}
}

// The service may say whether to ask again; it knows better than its status.
func TestTheServiceSaysWhetherToAskAgain(t *testing.T) {
	for _, c := range []struct {
		status      int
		body, says  string
		kind        provider.Kind
		once, again bool
	}{
		{409, "{}", "", provider.Server, false, true},
		{409, "{}", "true", provider.Server, false, true},
		{409, "{}", "false", provider.Server, true, false},
		{400, `{"error":{"message":"m"}}`, "true", provider.Server, false, true},
		{401, "{}", "true", provider.Server, false, true},
		{400, `{"error":{"message":"m"}}`, "false", provider.InvalidRequest, true, false},
		{400, `{"error":{"message":"prompt is too long"}}`, "true", provider.ContextLength, false, false},
		{402, "{}", "true", provider.Quota, false, false},
		{429, "{}", "true", provider.RateLimit, false, true},
		{429, "{}", "false", provider.RateLimit, true, false},
		{500, "{}", "false", provider.Server, true, false},
		{529, "{}", "maybe", provider.Overloaded, false, true},
	} {
		asked := 0
		cl := client(func(r *http.Request) (*http.Response, error) {
			asked++
			resp, err := body(strings.NewReader(c.body), "X-Should-Retry", c.says)(r)
			resp.StatusCode = c.status
			return resp, err
		})
		p := provider.Retry(asking{cl}, provider.RetryOptions{Retries: 1, Sleep: func(context.Context, time.Duration) error { return nil }})
		_, err := p.Stream(t.Context(), provider.Request{}, func(provider.Event) {})
		e := failed(t, err, c.kind)
		if e.Once != c.once || e.Status != c.status || (asked == 2) != c.again {
			t.Errorf("%d %s, x-should-retry %q: asked %d times, %+v", c.status, c.body, c.says, asked, e)
		}
	}
}

// asking makes a provider of a client.
type asking struct{ *Client }

func (a asking) Stream(ctx context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
	a.Address = "http://host"
	encode := func(provider.Request) ([]byte, error) { return []byte("{}"), nil }
	return a.Exchange(ctx, req, encode, func(*Answer) (provider.Reply, error) { return provider.Reply{}, nil })
}
