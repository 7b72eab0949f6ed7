package providertest

import (
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Lost checks what is told of the tokens of answers that are no reply: bodies
// with what their service counted, the zero value where it said nothing.
func Lost(t *testing.T, a Adapter, bodies map[string]message.Usage) {
	for body, want := range bodies {
		var told []message.Usage
		p := a.open(t, Options{HTTPClient: Canned(http.StatusOK, nil, strings.NewReader(body))})
		reply, err := p.Stream(t.Context(), Hello(), func(e provider.Event) {
			if e.Lost != nil {
				told = append(told, *e.Lost)
			}
		})
		switch {
		case err == nil:
			t.Errorf("%s\nis a reply: %+v", body, reply)
		case want == message.Usage{}:
			if len(told) > 0 {
				t.Errorf("%s\nsays nothing of tokens, told were %+v", body, told)
			}
		case len(told) != 1 || told[0] != want:
			t.Errorf("%s\ntold %+v, want %+v", body, told, want)
		}
	}
}
