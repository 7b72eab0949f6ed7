package sse

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Failure is what a service says about an error, in whatever form.
type Failure struct {
	Text  string        // the message, or the body if it isn't JSON
	After time.Duration // wait that the body asks for
	words string        // code and type, lower case
	code  string        // as given, perhaps a number
	bare  bool          // says nothing of what is forbidden: mostly that is about credentials (AWS, doubleword)
}

// ParseFailure knows {"error":{"message","code","type"}}, {"error":"…"},
// {"detail":"…"}, {"message","code","type"} and lists of these.
func ParseFailure(body []byte) Failure {
	f := Failure{Text: string(body)}
	var v any
	if json.Unmarshal(body, &v) == nil {
		f.Text = ""
		f.take(v)
		m, _ := v.(map[string]any)
		_, said := m["message"].(string)
		f.bare = said && len(m) == 1
	}
	f.bare = f.bare || strings.EqualFold(f.Text, "forbidden") && strings.Contains(strings.ToLower(f.words), "forbidden")
	f.words = strings.ToLower(f.words)
	f.After = asked(string(body))
	return f
}

func (f *Failure) take(v any) {
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

func (f *Failure) word(v any) {
	if s, ok := v.(string); ok {
		f.words += " " + s
	}
}

func (f *Failure) say(s string) {
	if f.Text != "" {
		f.Text += ": "
	}
	f.Text += s
}

// waits matches Google's "retryDelay": "34s" and OpenAI's and Groq's
// "try again in 8m38.4s".
var waits = pattern(`(?:"retryDelay":\s*"|try again in )((?:[0-9.]+(?:ms|s|m|h))+)`)

// asked returns the wait that a body asks for, 0 if it doesn't. Google asks for
// seconds even where it is a day's quota that is used up: those don't count.
func asked(body string) time.Duration {
	m := waits().FindStringSubmatch(body)
	if m == nil || strings.Contains(body, "PerDay") {
		return 0
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		return 0
	}
	return max(d, 0)
}
