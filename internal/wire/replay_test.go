package wire

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// told is what a server of raw bytes answers a request with.
type told struct {
	status int // 200 where it is 0
	header string
	body   string
	pieces int    // the size of what is sent at once, 0: all
	end    string // "": as HTTP ends a body; else one of the ways below
}

// The ways in which an answer ends otherwise.
const (
	stalls   = "stall"  // the connection stays open
	closes   = "close"  // without the last chunk
	resets   = "reset"  // by a reset
	tooShort = "length" // less than Content-Length has promised
	silent   = "silent" // not even a head comes
)

// teller is a server that answers with one body after the other, and with the
// last one again and again.
type teller struct {
	url   string
	mu    sync.Mutex
	heard []string // bodies of the requests
}

func tell(t *testing.T, answers ...told) *teller {
	t.Helper()
	s := &teller{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.heard = append(s.heard, string(raw))
		a := answers[min(len(s.heard), len(answers))-1]
		s.mu.Unlock()
		a.send(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (a told) send(w http.ResponseWriter, r *http.Request) {
	if a.end == silent {
		<-r.Context().Done()
		return
	}
	kind := a.header
	if kind == "" {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	if a.end == tooShort {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.body)+100))
	}
	w.WriteHeader(max(a.status, http.StatusOK))
	size := a.pieces
	if size == 0 {
		size = len(a.body) + 1
	}
	for piece := range slices.Chunk([]byte(a.body), size) {
		w.Write(piece)
		w.(http.Flusher).Flush()
	}
	switch a.end {
	case stalls:
		<-r.Context().Done()
	case resets:
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	case closes, tooShort:
		panic(http.ErrAbortHandler)
	}
}

func (s *teller) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// model is a model of the teller's and the flags that lead to it.
func (s *teller) model(p protocol) []string {
	return []string{"--model", p.as + "/m", "--base-url", s.url + p.path}
}

// says is a whole answer of the protocol, a text.
func says(p protocol, literal string) string {
	switch p.name {
	case "chat":
		return `data: {"choices":[{"index":0,"delta":{"content":` + literal + `},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	case "responses":
		return event("response.output_text.delta", `"output_index":0,"item_id":"m","delta":`+literal) +
			event("response.completed", `"response":{"status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":`+literal+`}]}]}`)
	case "anthropic":
		return messageStart + event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
			event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":`+literal+`}`) +
			event("content_block_stop", `"index":0`) + messageEnd("end_turn")
	case "gemini":
		return `data: {"candidates":[{"content":{"role":"model","parts":[{"text":` + literal + `}]},"finishReason":"STOP","index":0}]}` + "\n\n"
	}
	return `{"model":"m","message":{"role":"assistant","content":` + literal + `},"done":false}` + "\n" + ollamaEnd("stop")
}

const messageStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"content\":[]}}\n\n"

func messageEnd(stop string) string {
	return event("message_delta", `"delta":{"stop_reason":"`+stop+`"}`) + event("message_stop", `"x":0`)
}

func ollamaEnd(reason string) string {
	return `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"` + reason + `"}` + "\n"
}

// event is one that names its type twice.
func event(kind, rest string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"," + rest + "}\n\n"
}

// deltas is a stream of chat completions, one chunk for each delta.
func deltas(finish string, list ...string) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + d + `}]}` + "\n\n")
	}
	return b.String() + `data: {"choices":[{"index":0,"delta":{},"finish_reason":` + finish + `}]}` + "\n\ndata: [DONE]\n\n"
}

// of returns the protocol with that name.
func of(name string) protocol {
	all := protocols()
	return all[slices.IndexFunc(all, func(p protocol) bool { return p.name == name })]
}
