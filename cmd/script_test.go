package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script each show one behaviour of the command line;
// the binary under test is this test binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kagent": func() { os.Exit(Main(os.Args[1:])) },
	})
}

// childrenHearHangups has what the tests start end by SIGHUP, also where they
// run under nohup themselves: a signal that is waited for is not handed on as
// ignored.
func childrenHearHangups() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }

func TestScripts(t *testing.T) {
	childrenHearHangups()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GORACE", os.Getenv("GORACE"))
			frozen, err := filepath.Abs("../testdata")
			e.Setenv("TESTDATA", frozen)
			return err
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"serve": serve,
		},
	})
}

// exits CODE COMMAND...: the command ends with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serve NAME starts a model server that behaves as NAME says and sets $URL.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve NAME")
	}
	if args[0] == "refused" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Setenv("URL", "http://"+l.Addr().String()+"/v1")
		ts.Check(l.Close())
		return
	}
	handle := modelServers()[args[0]]
	if handle == nil {
		ts.Fatalf("no server %q", args[0])
	}
	s := httptest.NewServer(handle)
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL+"/v1")
}

const (
	sseHello = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello \"}}]}\n\n"
	sseWorld = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"world\"},\"finish_reason\":\"stop\"}]}\n\n" +
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\ndata: [DONE]\n\n"
)

func modelServers() map[string]http.HandlerFunc {
	stream := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, body)
	}
	status := func(code int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	var flaky atomic.Int32
	return map[string]http.HandlerFunc{
		"good": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer sk-very-secret-key" {
				status(401, `{"error":{"message":"Incorrect API key provided: `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`)(w, r)
				return
			}
			stream(w, sseHello+sseWorld)
		},
		"flaky": func(w http.ResponseWriter, r *http.Request) {
			if flaky.Add(1) == 1 {
				status(503, `{"error":{"message":"try later"}}`, "Retry-After", "0")(w, r)
				return
			}
			stream(w, sseHello+sseWorld)
		},
		"eof": func(w http.ResponseWriter, _ *http.Request) { stream(w, sseHello) },
		"reset": func(w http.ResponseWriter, _ *http.Request) {
			stream(w, sseHello)
			w.(http.Flusher).Flush()
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		},
		"silent": func(w http.ResponseWriter, r *http.Request) {
			stream(w, sseHello)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"overloaded": status(503, `{"error":{"message":"busy"}}`),
		"ratelimit":  status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "7200"),
		"notfound":   status(404, `{"error":{"message":"no such model"}}`),
		"quota":      status(429, `{"error":{"code":"insufficient_quota","message":"no money"}}`),
		"badrequest": status(400, `{"error":{"message":"no such field"}}`),
		"toolong":    status(400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`),
		"strict":     strictModel,
		"options": func(w http.ResponseWriter, r *http.Request) { // says what it was asked for
			var o struct {
				Effort      string   `json:"reasoning_effort"`
				Temperature *float64 `json:"temperature"`
				Most        int      `json:"max_completion_tokens"`
				Most2       int      `json:"max_tokens"`
			}
			json.NewDecoder(r.Body).Decode(&o)
			said, _ := json.Marshal(map[string]any{"effort": o.Effort, "temperature": o.Temperature, "most": o.Most + o.Most2})
			text, _ := json.Marshal(string(said))
			stream(w, `data: {"choices":[{"index":0,"delta":{"content":`+string(text)+`},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		},
		"page": status(200, `<!doctype html><html>sign in</html>`, "Content-Type", "text/html"),
	}
}
