package sse

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Failure is what a service says about an error, in whatever form.
type Failure struct {
	Text  string        // the message, or the body if it isn't JSON that holds one
	After time.Duration // wait that the body asks for
	words string        // code and type, lower case
	code  string        // as given, perhaps a number
	plain bool          // Text is the body as it came
	bare  bool          // says nothing of what is forbidden: mostly that is about credentials (AWS, doubleword)
}

// ParseFailure knows {"error":{"message","code","type"}}, {"error":"…"},
// {"detail":"…"}, {"message","code","type"}, lists of these, JSON in the message
// and JSON that breaks off. Without a message in it, Text is empty.
func ParseFailure(body []byte) Failure {
	f := Failure{Text: string(body), plain: true}
	var v any
	switch {
	case json.Unmarshal(body, &v) == nil:
		f.Text, f.plain = "", false
		f.take(v)
		m, _ := v.(map[string]any)
		_, said := m["message"].(string)
		f.bare = said && len(m) == 1
	case looksJSON(f.Text):
		f.brokenOff(f.Text)
	}
	f.bare = f.bare || strings.EqualFold(f.Text, "forbidden") && strings.Contains(strings.ToLower(f.words), "forbidden")
	f.words = strings.ToLower(f.words)
	f.After = asked(string(body))
	return f
}

func looksJSON(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
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
		f.object(lowerKeys(v))
	}
}

func (f *Failure) object(v map[string]any) {
	for _, key := range []string{"code", "type", "status", "__type"} {
		f.word(v[key])
	}
	if n, ok := v["code"].(float64); ok {
		f.code = strconv.FormatFloat(n, 'f', -1, 64)
	} else if s, ok := v["code"].(string); ok {
		f.code = s
	}
	for _, key := range []string{"error", "message", "msg", "detail", "error_description"} {
		f.take(v[key])
	}
	for _, key := range []string{"errors", "title", "reason", "error_message", "errormessage", "description"} {
		if f.Text == "" {
			f.take(v[key])
		}
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

// lowerKeys forgives {"Message": …}.
func lowerKeys(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if lower := strings.ToLower(k); lower == k || m[lower] == nil {
			out[lower] = v
		}
	}
	return out
}

func (f *Failure) word(v any) {
	if s, ok := v.(string); ok {
		f.words += " " + s
	}
}

// say adds a message. Gateways put the JSON of the service behind them into
// theirs, after a few words of their own: its message is taken out.
func (f *Failure) say(s string) {
	if at := strings.IndexByte(s, '{'); at >= 0 {
		var v map[string]any
		if inner := (Failure{}); json.NewDecoder(strings.NewReader(s[at:])).Decode(&v) == nil {
			if inner.object(lowerKeys(v)); inner.Text != "" {
				f.words += " " + inner.words
				s = strings.TrimSpace(s[:at]) + " " + inner.Text
			}
		}
	}
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if f.Text != "" {
		f.Text += ": "
	}
	f.Text += s
}

var (
	cutMessage = pattern(`"(?:message|detail|msg|error)"\s*:\s*"((?:[^"\\]|\\.)*)`)
	cutWord    = pattern(`"(?:code|type|status)"\s*:\s*"([^"\\]*)"`)
)

// brokenOff looks for the message in the beginning of a JSON text.
func (f *Failure) brokenOff(body string) {
	m := cutMessage().FindStringSubmatch(body)
	if m == nil {
		return
	}
	text := m[1]
	if json.Unmarshal([]byte(`"`+text+`"`), &text) != nil {
		text = m[1]
	}
	f.Text, f.plain = "", false
	f.say(text)
	for _, w := range cutWord().FindAllStringSubmatch(body, 8) {
		f.word(w[1])
	}
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
