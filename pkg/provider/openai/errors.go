package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// maxErrorBody is how much of an error's body is read, in bytes.
const maxErrorBody = 64 << 10

// refused reads an answer whose status is no success.
func (c *client) refused(ctx context.Context, a *sse.Answer) error {
	body, _ := sse.ReadSome(a, maxErrorBody) // half a body is better than none
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := c.failure(a.Status, body)
	if after := sse.RetryAfter(a.Status, a.Header, time.Now()); after > 0 {
		e.RetryAfter = after
	}
	if e.Message == "" {
		e.Message = a.Host + " gave no reason"
	}
	if sse.IsPage(body) {
		e.Message = c.http.Fail(e.Kind, 0, "%s answered with %s", a.Host, sse.PageNote(body)).Message
	}
	return e
}

// inStream returns the error that a body with status 200 holds. Its code may
// be a status.
func (c *client) inStream(data []byte) error {
	e := c.failure(0, data)
	if e.Message == "" {
		e.Message = "the stream holds an error without a reason"
	}
	return e
}

func (c *client) failure(status int, body []byte) *provider.Error {
	f := parseFailure(body)
	if status == 0 {
		if code, err := strconv.Atoi(f.code); err == nil && code >= 400 && code < 600 {
			status = code
		}
	}
	e := c.http.Fail(f.kind(status), status, "%s", f.text)
	e.RetryAfter = f.after
	return e
}

// truncated is the error for a stream without a terminal event.
func (c *client) truncated(b *builder) error {
	return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}

// abnormal is the error for a finish reason that is no regular end.
func (c *client) abnormal(finish string) error {
	kind := provider.Server
	switch strings.ToLower(finish) {
	case "insufficient_system_resource": // DeepSeek
		kind = provider.Overloaded
	case "network_error": // Z.ai
		kind = provider.Network
	}
	return c.http.Fail(kind, 0, "the answer ended with finish_reason %q", finish)
}

// unknown passes provider errors and turns others, which encoding/json made,
// into one.
func (c *client) unknown(err error) error {
	var failed *provider.Error
	if errors.As(err, &failed) {
		return failed
	}
	return c.http.Fail(provider.Server, 0, "the answer is not of the expected form: %v", err)
}

// failure is what services say about an error, in whatever form.
type failure struct {
	text  string        // the message, or the body if it isn't JSON
	words string        // code and type, lower case
	code  string        // as given, perhaps a number
	after time.Duration // wait that the body asks for
}

// parseFailure knows {"error":{"message","code","type"}}, {"error":"…"},
// {"detail":"…"}, {"message","code","type"} and lists of these.
func parseFailure(body []byte) failure {
	f := failure{text: string(body)}
	var v any
	if json.Unmarshal(body, &v) == nil {
		f.text = ""
		f.take(v)
	}
	f.words = strings.ToLower(f.words)
	f.after = asked(string(body))
	return f
}

func (f *failure) take(v any) {
	switch v := v.(type) {
	case string:
		f.say(v)
	case []any:
		if len(v) > 0 {
			f.take(v[0])
		}
	case map[string]any:
		for _, key := range []string{"code", "type", "status"} {
			f.word(v[key])
		}
		if n, ok := v["code"].(float64); ok {
			f.code = strconv.FormatFloat(n, 'f', -1, 64)
		} else if s, ok := v["code"].(string); ok {
			f.code = s
		}
		for _, key := range []string{"error", "message", "msg", "detail"} {
			f.take(v[key])
		}
		for _, key := range []string{"metadata", "innererror"} { // OpenRouter's, Azure's
			if inner, ok := v[key].(map[string]any); ok {
				f.word(inner["code"])
				if raw, ok := inner["raw"].(string); ok {
					f.say(raw)
				}
			}
		}
	}
}

func (f *failure) word(v any) {
	if s, ok := v.(string); ok {
		f.words += " " + s
	}
}

func (f *failure) say(s string) {
	if f.text != "" {
		f.text += ": "
	}
	f.text += s
}

// waits matches Google's "retryDelay": "34s" and OpenAI's and Groq's
// "try again in 8m38.4s".
var waits = pattern(`(?:"retryDelay":\s*"|try again in )((?:[0-9.]+(?:ms|s|m|h))+)`)

// asked returns the wait that a body asks for, 0 if it doesn't.
func asked(body string) time.Duration {
	m := waits().FindStringSubmatch(body)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		return 0
	}
	return max(d, 0)
}
