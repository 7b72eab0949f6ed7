package agent

import (
	"encoding/json"
	deep "reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/tool"
)

const key = `hunter2+"odd"`

// keeper is a Runner that knows a key and another secret.
func keeper() *Runner {
	return &Runner{Mask: tool.NewMasker([]string{"GATEWAY=" + key, "DB_PASSWORD=production-1"}, "GATEWAY")}
}

func call(id, name, args string) message.Part {
	return message.Call(message.ToolCall{ID: id, Name: name, Arguments: args})
}

func thought(text, opaque string) message.Part {
	return message.Part{Type: message.TypeReasoning, Text: text, Opaque: json.RawMessage(opaque)}
}

func TestAKeyInTheArgumentsOfACallIsMasked(t *testing.T) {
	r := keeper()
	shaped := "sk-" + "ant-api03-Ab12cD34eF56gH78iJ90" // what only looks like a key
	for in, want := range map[string]string{
		`{"a":"x hunter2+\"odd\" y"}`:               `{"a":"x [masked GATEWAY] y"}`,
		`{"a":"\u0068unter2\u002b\u0022odd\u0022"}`: `{"a":"[masked GATEWAY]"}`,
		`{"hunter2+\"odd\"":1}`:                     `{"[masked GATEWAY]":1}`,
		`{"a":"{\"b\":\"hunter2+\\\"odd\\\"\"}"}`:   `{"a":"{\"b\":\"[masked GATEWAY]\"}"}`,
		`{"a":"curl -u me:hunter2%2B%22odd%22 h"}`:  `{"a":"curl -u me:[masked GATEWAY] h"}`,
		`{"a":"hunter2+\"odd\"`:                     `{"a":"[masked GATEWAY]`,
		`hunter2+"odd"`:                             `[masked GATEWAY]`,
		`{"path":"production-1.yaml"}`:              `{"path":"production-1.yaml"}`, // words of the user's own
		`{"a":"` + shaped + `"}`:                    `{"a":"` + shaped + `"}`,
	} {
		got := r.storable([]message.Part{call("c1", "t", in)}, message.StopCalls)[0].Call
		if got.Arguments != want || got.ID != "c1" || got.Name != "t" {
			t.Errorf("%s became %+v", in, got)
		}
		if json.Valid([]byte(in)) != json.Valid([]byte(want)) || r.Mask.Holds(want) != (in != want) {
			t.Errorf("%s: the call would not be refused, or for another reason", want)
		}
	}
}

func TestAKeyInTheNameOrTheIDOfACallIsMasked(t *testing.T) {
	got := keeper().storable([]message.Part{call(key, key, "{}"), call("x"+key, "t", "{}")}, message.StopCalls)
	want := []message.Part{call("", "[masked GATEWAY]", "{}"), call("", "t", "{}")}
	if !deep.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestThoughtsAreMaskedAndSignedOnesKeepWhatIsNoKey(t *testing.T) {
	got := keeper().storable([]message.Part{
		thought("production-1 "+key, ""),
		thought("production-1", `{"signature":"s=" }`),
		message.Text("production-1"),
	}, message.StopCalls)
	want := []message.Part{
		thought("[masked DB_PASSWORD] [masked GATEWAY]", ""),
		thought("production-1", `{"signature":"s=" }`),
		message.Text("[masked DB_PASSWORD]"),
	}
	for i := range got {
		if got[i].Text != want[i].Text || string(got[i].Opaque) != string(want[i].Opaque) {
			t.Errorf("got %s %s, want %s %s", got[i].Text, got[i].Opaque, want[i].Text, want[i].Opaque)
		}
	}
}

func TestWhatWasSignedIsNotSoundWithoutAKeyThatWasInIt(t *testing.T) {
	signed := func(p message.Part) message.Part {
		p.Opaque = json.RawMessage(`{"id":"x"}`)
		return p
	}
	quoted, _ := json.Marshal(key)
	for name, parts := range map[string][]message.Part{
		"thought":        {thought("hm "+key, `{"signature":"s="}`), signed(call("1", "t", "{}"))},
		"cut thought":    {thought("hm hunter2", `{"signature":"s="}`), thought(`+"odd"`, `{"signature":"t="}`)},
		"text":           {thought("hm", `{"signature":"s="}`), signed(message.Text(key))},
		"arguments":      {thought("hm", `{"signature":"s="}`), signed(call("1", "t", `{"a":`+string(quoted)+`}`))},
		"vendor's data":  {thought("hm", `{"text":`+string(quoted)+`}`), signed(call("1", "t", "{}"))},
		"escaped data":   {thought("hm", `{"text":"\u0068unter2+\"odd\""}`)},
		"data as base64": {thought("hm", `{"text":"dXNlcjpodW50ZXIyKyJvZGQi"}`)},
	} {
		r := keeper()
		for i, p := range r.storable(parts, message.StopCalls) {
			if !message.IsMasked(p.Opaque) || !json.Valid(p.Opaque) {
				t.Errorf("%s: part %d would go back with %s", name, i, p.Opaque)
			}
			if p.Call != nil && p.Call.ID != "" {
				t.Errorf("%s: the vendor would know its call by %s", name, p.Call.ID)
			}
			if raw, _ := json.Marshal(p); r.Mask.HoldsKey(string(raw)) {
				t.Errorf("%s: %s holds the key", name, raw)
			}
		}
	}
}

func TestWithoutAMaskerAReplyStaysAsItIs(t *testing.T) {
	parts := []message.Part{thought(key, `{"signature":"s="}`), message.Text(key), call(key, key, key)}
	if got := (&Runner{}).storable(parts, message.StopCalls); !deep.DeepEqual(got, parts) {
		t.Errorf("got %+v", got)
	}
}

func TestACutReplyDoesNotEndWithMostOfAKey(t *testing.T) {
	for _, last := range []message.Part{message.Text("a hunter2+"), call("1", "t", `{"a":"hunter2+`), thought("hunter2+", "")} {
		for stop, want := range map[message.StopReason]bool{message.StopLength: true, message.StopEnd: false} {
			got, _ := json.Marshal(keeper().storable([]message.Part{message.Text("x"), last}, stop))
			if strings.Contains(string(got), "[masked GATEWAY]") != want {
				t.Errorf("%s: %s", stop, got)
			}
		}
	}
}

func TestWhatWasMaskedInAReplyIsNamed(t *testing.T) {
	r := &run{Runner: keeper()}
	for text, want := range map[string]string{
		"postgres://app:s3cretPw99@db and postgres://app:s3cretPw98@db": "url-password",
		"production-1, " + key + ", production-1":                       "DB_PASSWORD GATEWAY",
		"as you said, [masked url-password] is masked":                  "",
		"[masked url-password] and postgres://app:s3cretPw99@db":        "url-password",
		"Bearer AccessTokenAuthenticationHandler":                       "",
		"nothing [masked NAME]":                                         "",
	} {
		got := r.said("p/m", provider.Reply{Parts: []message.Part{message.Text(text), message.Text("")}, Stop: message.StopEnd}).Masked
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	got := r.said("p/m", provider.Reply{Parts: []message.Part{thought(key, ""), call("1", "t", key)}}).Masked
	if got != nil { // neither is an answer
		t.Errorf("thoughts and calls: %q", got)
	}
}
