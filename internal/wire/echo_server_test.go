package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// echoed is a key with whatever is escaped somewhere.
const echoed = `hunter2+"odd"/key&<2>%41`

// An echo is a service that repeats the key it was sent wherever it can. What it
// says first calls tools; what it says when it has a result is its answer.
type echo struct {
	*httptest.Server
	escaped string // "events": each character of the key is escaped in what is sent; "texts": in JSON that a model wrote

	mutex  sync.Mutex
	bodies []string // of requests
}

func newEcho(t *testing.T, escaped string) *echo {
	e := &echo{escaped: escaped}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

// seen returns the bodies of the requests so far.
func (e *echo) seen() []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.bodies
}

func (e *echo) serve(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	e.mutex.Lock()
	e.bodies = append(e.bodies, string(raw))
	e.mutex.Unlock()
	var asked struct{ Model string }
	json.Unmarshal(raw, &asked)
	h := w.Header()
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Ratelimit-Reset-Requests", "Openai-Organization", "Date", "Set-Cookie"} {
		h.Set(name, echoed)
	}
	if fail := refusals()[strings.TrimPrefix(asked.Model, "m-")+modelIn(r.URL.Path)]; fail != nil {
		fail(w)
		return
	}
	again := strings.Contains(string(raw), "[masked") // what a call of its had brought
	p := echoProtocols()[protocolOf(r.URL.Path)]
	if p.lines {
		h.Set("Content-Type", "application/x-ndjson")
	} else {
		h.Set("Content-Type", "text/event-stream")
	}
	events := p.calls()
	if again {
		events = p.answer()
	}
	for _, event := range events {
		e.write(w, event, p.lines, strings.HasSuffix(asked.Model+modelIn(r.URL.Path), "ended"))
	}
	if protocolOf(r.URL.Path) == "chat" {
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

func (e *echo) write(w io.Writer, event map[string]any, lines, ended bool) {
	raw, _ := json.Marshal(event)
	text := string(raw)
	plain, _ := json.Marshal(echoed)
	inText, _ := json.Marshal(strings.Trim(string(plain), `"`))
	switch e.escaped {
	case "events":
		text = strings.ReplaceAll(text, strings.Trim(string(plain), `"`), everyEscaped(echoed))
	case "texts":
		text = strings.ReplaceAll(text, strings.Trim(string(inText), `"`), strings.ReplaceAll(everyEscaped(echoed), `\`, `\\`))
	}
	if ended {
		text = endings().ReplaceAllString(text, `"$1":`+strings.ReplaceAll(string(plain), "$", "$$"))
	}
	if lines {
		fmt.Fprintln(w, text)
		return
	}
	if kind, ok := event["type"].(string); ok {
		fmt.Fprintf(w, "event: %s\n", kind)
	}
	fmt.Fprintf(w, "data: %s\n\n", text)
}

// endings matches why a reply has ended, in every protocol.
func endings() *regexp.Regexp {
	return regexp.MustCompile(`"(finish_reason|stop_reason|finishReason|done_reason|status)":"[^"]+"`)
}

func everyEscaped(s string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}

// modelIn returns what stands for the model in an address of Gemini's.
func modelIn(path string) string {
	_, rest, _ := strings.Cut(path, "/models/m-")
	name, _, _ := strings.Cut(rest, ":")
	return name
}

func protocolOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return "chat"
	case strings.HasSuffix(path, "/responses"):
		return "responses"
	case strings.HasSuffix(path, "/messages"):
		return "anthropic"
	case strings.HasSuffix(path, "/api/chat"):
		return "ollama"
	}
	return "gemini"
}

// refusals are answers that are none, by the name of the model.
func refusals() map[string]func(http.ResponseWriter) {
	refuse := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	raw := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				io.WriteString(conn, text)
				conn.Close()
			}
		}
	}
	quoted, _ := json.Marshal(echoed)
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + echoed))
	return map[string]func(http.ResponseWriter){
		"json":    refuse(400, fmt.Sprintf(`{"error":{"message":%[1]s,"code":%[1]s,"type":%[1]s,"status":%[1]s,"param":%[1]s}}`, quoted)),
		"again":   refuse(500, fmt.Sprintf(`{"error":{"message":%[1]s}}`, quoted)),
		"escaped": refuse(400, `it was "`+everyEscaped(echoed)+`"`),
		"page":    refuse(502, "<html><title>"+html.EscapeString(echoed)+"</title></html>"),
		"numbers": refuse(403, "<html><body>"+strings.ReplaceAll(html.EscapeString(echoed), "+", "&#x2b;")+"</body></html>"),
		"login":   refuse(200, "<html><title>"+strings.Repeat("x", 70)+" "+html.EscapeString(echoed)+"</title></html>"),
		"query":   refuse(404, "no such thing: ?key="+url.QueryEscape(echoed)),
		"basic":   refuse(401, "Authorization: Basic "+basic),
		"coded": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", echoed)
			w.WriteHeader(200)
		},
		"moved": func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://elsewhere.example/"+url.PathEscape(echoed)+"?key="+url.QueryEscape(echoed))
			w.WriteHeader(302)
		},
		"stream":  refuse(200, fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":%[1]s,\"type\":%[1]s,\"code\":%[1]s}}\n\n", quoted)),
		"whole":   refuse(200, fmt.Sprintf(`{"error":{"message":%[1]s,"type":%[1]s,"code":%[1]s},"object":%[1]s}`, quoted)),
		"closed":  refuse(200, fmt.Sprintf("data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"message\":%[1]s,\"code\":%[1]s}}}\n\n", quoted)),
		"partly":  refuse(200, fmt.Sprintf("data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":%[1]s}}}\n\n", quoted)),
		"blocked": refuse(200, fmt.Sprintf("data: {\"promptFeedback\":{\"blockReason\":%[1]s,\"blockReasonMessage\":%[1]s}}\n\n", quoted)),
		"refused": refuse(200, fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":%[1]s},\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n", quoted)),
		"line":    raw("HTTP/1.1 " + echoed + "\r\n\r\n"),
		"header":  raw("HTTP/1.1 200 OK\r\n" + echoed + "\r\n\r\n"),
		"length":  raw("HTTP/1.1 200 OK\r\nContent-Length: " + echoed + "\r\n\r\n"),
		"chunk":   raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + echoed + "\r\n"),
		"half":    refuse(200, `data: {"choices":[{"index":0,"delta":{"content":"said hunter2+\"odd\"/k"}}]}`+"\n\n"),
		"odd":     refuse(200, fmt.Sprintf("data: {%s\n\n%s\n", quoted, quoted)),
	}
}
