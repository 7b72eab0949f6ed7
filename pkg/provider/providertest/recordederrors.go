package providertest

import (
	"net/http"
	"strings"
	"testing"
)

// recordedError is a line of the collection's errors.
type recordedError struct {
	ID, Protocol, Body, Kind string
	Status                   int
	Headers                  map[string]string
}

// RecordedErrors checks that each recorded error of the protocol gets the kind
// that the collection's makers saw in it, but for those that are listed as
// wrong. It returns how many there are, and how many of them are listed.
func RecordedErrors(t *testing.T, a Adapter) (count, wrong int) {
	for _, e := range lines[recordedError](t, "wire/errors.jsonl") {
		if e.Protocol != a.Protocol {
			continue
		}
		count++
		if w, ok := wrongErrors()[e.ID]; ok {
			wrong++
			if string(w.kind) == e.Kind || !strings.Contains(e.Body, w.bytes) {
				t.Errorf("%s is not wrong", e.ID)
			}
			e.Kind = string(w.kind)
		}
		header := http.Header{}
		for k, v := range e.Headers {
			header.Set(k, v)
		}
		_, err := a.ask(t, Options{HTTPClient: Canned(e.Status, header, strings.NewReader(e.Body))})
		if got := failed(t, err); string(got.Kind) != e.Kind {
			t.Errorf("%s: kind %s, want %s: %v", e.ID, got.Kind, e.Kind, got)
		}
	}
	if count == 0 {
		t.Errorf("no errors of %s", a.Protocol)
	}
	return count, wrong
}
