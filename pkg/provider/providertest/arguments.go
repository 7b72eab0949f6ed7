package providertest

import (
	"encoding/json"
	"strings"
	"testing"

	"kagent/pkg/message"
)

// F054 to F060: arguments are what the model wrote. None are {}; what is no
// object stays none, so that nobody runs it by mistake.
func testArguments(t *testing.T, a Adapter) {
	for args, want := range map[string]string{
		``:                                   `{}`,
		`{}`:                                 `{}`,
		`{"n":9223372036854775807,"f":1.10}`: `{"n":9223372036854775807,"f":1.10}`,
		`{"t":"abc\ud83d"}`:                  `{"t":"abc\ud83d"}`,
	} {
		reply, err := a.answerWith(t, Answer{Calls: []Call{{"call_1", "f", args}}})
		calls := callsOf(reply)
		if err != nil || len(calls) != 1 || message.CleanEscapes(calls[0].Arguments) != message.CleanEscapes(want) || reply.Stop != message.StopCalls {
			t.Errorf("%s: %+v, %v; want %s", args, reply, err, want)
		}
	}
	for _, args := range []string{
		`[1]`, `"x"`, `7`, `true`, `{`, `{"path":"out","content":"l1`, `{"a": 1, }`, `{"a":1}{"b":2}`, `rm -rf`, `{"a":1}]`,
	} {
		reply, err := a.answerWith(t, Answer{Calls: []Call{{"call_1", "f", args}}})
		if err != nil {
			failed(t, err)
			continue
		}
		calls := callsOf(reply)
		if len(calls) != 1 || isObject(calls[0].Arguments) {
			t.Errorf("%s became the calls %v", args, calls)
		}
	}
	testParallel(t, a)
}

func isObject(s string) bool {
	var v map[string]any
	return json.Unmarshal([]byte(s), &v) == nil && v != nil
}

// testParallel: many calls, alike but for an argument, stay apart and in order.
func testParallel(t *testing.T, a Adapter) {
	var calls []Call
	for _, id := range strings.Split("abcdefghijklm", "") {
		calls = append(calls, Call{"call_" + id, "read", `{"path":"` + id + `"}`}, Call{"call_" + id + id, "pwd", ""})
	}
	reply, err := a.answerWith(t, Answer{Text: []string{`"two of each"`}, Calls: calls})
	got := callsOf(reply)
	if err != nil || len(got) != len(calls) {
		t.Fatalf("%v, %v", got, err)
	}
	ids := map[string]bool{}
	for i, want := range calls {
		if want.Arguments == "" {
			want.Arguments = "{}"
		}
		if got[i].Name != want.Name || got[i].Arguments != want.Arguments {
			t.Errorf("call %d is %+v, want %+v", i, got[i], want)
		}
		if id := got[i].ID; id != "" && ids[id] {
			t.Errorf("two calls have the id %s", id)
		}
		ids[got[i].ID] = true
	}
}
