package catalogue

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
)

// Whatever a user's file holds: it is refused in one line that names it, or
// read alike each time, into numbers that a log can hold.
func FuzzUserFile(f *testing.F) {
	for _, seed := range []string{
		"", "models: {x/m: {window: 10, price: {input: 10, output: 50, cache_read: 1}}}",
		"services: {mine: {protocol: anthropic, base: 'http://h/v1', keys: [A, B]}, openai: {protocol: ollama, base: x}}",
		"models: {x/m: {price: {input: .nan}}}", "models: {x/m: {price: {output: .inf}}}", "models: {m: {window: -1}}",
		"a: &a [*a]", "services: {'a/b': {}}", "models:\n  x/\u0085y: {max_output: 9223372036854775807}", "\x00", "models: [1", "? {a: b}\n: c",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, user []byte) {
		c, err := New("models.yaml", user)
		if err != nil {
			if s := err.Error(); !strings.HasPrefix(s, "models.yaml: ") || strings.ContainsAny(s, "\n\r") || len(s) > 10*len(user)+1000 {
				t.Errorf("the error is not fit to be shown: %q", s)
			}
			return
		}
		again, err := New("models.yaml", user)
		if err != nil || !reflect.DeepEqual(c.Models(), again.Models()) || fmt.Sprint(c.Services()) != fmt.Sprint(again.Services()) {
			t.Errorf("read again: %v, %+v, %+v", err, c.Services(), again.Services())
		}
		for _, m := range c.Models() {
			cost := c.Cost(m.Name, message.Usage{Input: 1 << 40, CacheRead: 1 << 20, CacheWrite: 1 << 20, Output: 1 << 40})
			if _, err := json.Marshal([]any{m, cost}); err != nil || m.Window < 0 || m.MaxOutput < 0 || cost != nil && *cost < 0 {
				t.Errorf("%+v costs %v: %v", m, cost, err)
			}
		}
	})
}
