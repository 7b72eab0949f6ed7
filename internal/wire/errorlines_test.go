package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"kagent/pkg/provider/providertest"
)

// vendorError is an error of a real service, as it was recorded.
type vendorError struct {
	ID, Protocol, Body, Kind, Message string
	Status                            int
	Headers                           map[string]string
}

func vendorErrors(t *testing.T) map[string]vendorError {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(providertest.Shared(t, "wire"), "errors.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]vendorError{}
	for line := range bytes.Lines(raw) {
		var e vendorError
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all[e.ID] = e
	}
	return all
}

// theirs is the service of a user's --model for a protocol of the collection.
func theirs(protocol string) string {
	as := map[string]string{"openai-chat": "openai", "anthropic-messages": "anthropic"}[protocol]
	if as == "" {
		as = protocol
	}
	return as
}

// longestFailure is how many characters of a line people read.
const longestFailure = 560

// goWords are what no user has heard of.
var goWords = regexp.MustCompile(`json: |unmarshal|goroutine|\bdial tcp\b|x509|net/http|context deadline|struct|interface \{|map\[|<nil>|%!`)

// Each recorded error of the vendors is, to a user, one line: which model, what it
// said, and what to do.
func TestEachVendorErrorIsOneLineForAUser(t *testing.T) {
	all := vendorErrors(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := all[strings.Split(r.URL.Path, "/")[1]]
		for name, value := range e.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(e.Status)
		w.Write([]byte(e.Body))
	}))
	defer server.Close()
	if len(all) < 100 {
		t.Errorf("only %d errors", len(all))
	}
	for id, e := range all {
		model := theirs(e.Protocol) + "/some-model"
		r := kagent(t, t.TempDir(), "run", "-q", "-s", "s", "--retries", "0", "-m", model, "--base-url", server.URL+"/"+id, "hi")
		fitForAUser(t, e, model, r)
	}
}

func fitForAUser(t *testing.T, e vendorError, model string, r ran) {
	t.Helper()
	var failure string
	for line := range strings.Lines(r.stderr) {
		if strings.HasPrefix(line, "kagent: ") {
			failure += line
		}
	}
	why := ""
	switch said, advice, ok := strings.Cut(strings.TrimSpace(failure), "; "); {
	case strings.Count(failure, "\n") != 1:
		why = "not one line"
	case utf8.RuneCountInString(failure) > longestFailure:
		why = "too long"
	case !strings.Contains(failure, model):
		why = "does not name the model"
	case goWords.MatchString(failure):
		why = "speaks of Go"
	case strings.Contains(failure, `":`) || strings.Contains(failure, `{"`):
		why = "shows JSON"
	case !strings.Contains(failure, beginning(e.Message)):
		why = "does not say what the service did"
	case strings.Contains(failure, ".;"):
		why = "odd in its punctuation"
	case !ok && e.Status != http.StatusOK || advice == said:
		why = "does not say what to do"
	}
	if why != "" || r.code == 0 || r.out != "" {
		t.Errorf("%s (%s), exit %d: %s:\n%s", e.ID, e.Kind, r.code, why, r.stderr)
	}
}

// beginning is as much of a message as has to be shown.
func beginning(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if r := []rune(message); len(r) > 60 {
		message = string(r[:60])
	}
	return strings.TrimSuffix(message, ".")
}
