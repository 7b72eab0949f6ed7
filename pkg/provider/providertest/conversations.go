package providertest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// conversation is a line of the collection's list: cases in the order in which
// they were answers to one client.
type conversation struct {
	Protocol, Source string
	Final            string `json:"final_text"`
	Cases            []string
}

// Conversations plays the recorded conversations of the protocol, turn by turn:
// each call gets a result, and what the vendor wants back has to be in the next
// request. It returns how many there are.
func Conversations(t *testing.T, a Adapter) (count int) {
	cases := map[string]recording{}
	for _, r := range a.recordings(t) {
		cases[r.ID] = r
	}
	for _, c := range lines[conversation](t, "wire/cases.sequences.jsonl") {
		if c.Protocol == a.Protocol {
			a.converse(t, c, cases)
			count++
		}
	}
	return count
}

func (a Adapter) converse(t *testing.T, c conversation, cases map[string]recording) {
	var now recording
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		for k, v := range now.Response.Headers {
			w.Header().Set(k, v)
		}
		w.WriteHeader(now.Response.Status)
		io.WriteString(w, now.Response.Body)
	}))
	defer server.Close()
	p := a.open(t, Options{BaseURL: server.URL})
	req := Hello()
	said := ""
	var due []string // what the next request has to hold
	for _, id := range c.Cases {
		var ok bool
		if now, ok = cases[id]; !ok {
			t.Errorf("%s: there is no case %s", c.Source, id)
			return
		}
		reply, err := stream(t, p, req)
		if found := a.compare(now, reply, err); len(found) > 0 {
			t.Errorf("%s: %s", id, strings.Join(found, "; "))
		}
		checkBody(t, body)
		for _, s := range due {
			if !strings.Contains(body, literal(s)) {
				t.Errorf("%s: %.60q is not in the request before it", id, s)
			}
		}
		req, due, said = a.following(req, reply), append(due, now.Expected.Signatures...), textOf(reply)
	}
	if c.Final != "" && said != message.Clean(c.Final) {
		t.Errorf("%s ends with %q, want %q", c.Source, said, c.Final)
	}
}

// following is the request after a reply: results for its calls, or a word of
// the user's.
func (a Adapter) following(req provider.Request, reply provider.Reply) provider.Request {
	req = a.answered(req, reply)
	if len(callsOf(reply)) == 0 {
		req.Messages = append(req.Messages, Hello().Messages...)
	}
	return req
}

// lines reads a file of the collection that has a JSON object a line.
func lines[T any](t testing.TB, path string) (list []T) {
	t.Helper()
	dir, name := filepath.Split(path)
	file, err := os.Open(filepath.Join(Shared(t, dir), name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(path, err)
		}
		list = append(list, v)
	}
	if err := s.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d lines, %v", path, len(list), err)
	}
	return list
}
