package script_test

import (
	"bytes"
	"reflect"
	"testing"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/script"
)

// Whatever is in a file, it is refused with an error, or it answers: twice the
// same, in clean text.
func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"replies: [{text: \"{{last_user}}\", reasoning: x, usage: {input: 3}}]",
		"replies:\n- when: {tool_results: {min: 1}}\n  text: |\n    a\n    b\n- {stop: length, pieces: 3}\n",
		`{"replies": [{"tool_calls": [{"name": "a", "arguments": {"x": ["{{tool_result}}", 1.5e3, null, {"\ud800": "\u0000"}]}}]}]}`,
		"replies: [{tool_calls: [{name: a, arguments: {x: 0x1F, y: 1_0, z: !!binary aGk=, <<: {a: 1}}}]}]",
		"replies: [{error: {kind: network, message: \"a\\nb\"}, text: cut}]",
	} {
		f.Add([]byte(src), "say \"hi\"\n")
	}
	f.Fuzz(func(t *testing.T, src []byte, said string) {
		s, err := script.Parse("fuzz", src)
		if err != nil || bytes.Contains(src, []byte("delay")) {
			return
		}
		req := request(user(said), result(said))
		reply, err := s.Stream(t.Context(), req, func(provider.Event) {})
		again, err2 := s.Stream(t.Context(), req, func(provider.Event) {})
		if !reflect.DeepEqual(reply, again) || !reflect.DeepEqual(err, err2) {
			t.Fatalf("%+v, %v, then %+v, %v", reply, err, again, err2)
		}
		for _, p := range reply.Parts {
			if p.Text != message.Clean(p.Text) || p.Call != nil && !utf8.ValidString(p.Call.Arguments) {
				t.Errorf("not clean: %+v", p)
			}
		}
	})
}
