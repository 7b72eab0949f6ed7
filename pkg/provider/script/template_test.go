package script_test

import (
	"encoding/json"
	"testing"

	"kagent/pkg/provider"
)

func TestTemplatesAreFilledIn(t *testing.T) {
	req := request(user("old"), result("one"), user("说 🙂"), result("two"))
	req.Label = provider.Label{Ordinal: 7, Attempt: 3}
	for said, want := range map[string]string{
		"{{last_user}}": "说 🙂",
		"{{tool_result}}/{{n_tool_results}}/{{ordinal}}/{{attempt}}": "two/2/7/3",
		"{{unknown}} {{ {ordinal} }}":                                "{{unknown}} {{ {ordinal} }}",
		"{{{ordinal}}}":                                              "{7}",
	} {
		src, _ := json.Marshal(map[string]any{"replies": []any{map[string]any{"text": said, "reasoning": said}}})
		reply, _, err := ask(t, parse(t, string(src)), req)
		if err != nil || reply.Parts[0].Text != want || reply.Parts[1].Text != want {
			t.Errorf("%s: got %+v, %v, want %q", said, reply.Parts, err, want)
		}
	}
}

func TestWhatIsFilledInIsNotExpandedAgain(t *testing.T) {
	s := parse(t, `replies: [{text: "{{last_user}}"}]`)
	if got := text(t, s, request(user("{{ordinal}}"))); got != "{{ordinal}}" {
		t.Errorf("got %q", got)
	}
}

func TestTemplatesWithoutAResultAreEmpty(t *testing.T) {
	s := parse(t, `replies: [{text: "<{{tool_result}}{{n_tool_results}}>"}]`)
	if got := text(t, s, request(user("x"))); got != "<0>" {
		t.Errorf("got %q", got)
	}
}

func TestFilledInTextIsCleaned(t *testing.T) {
	s := parse(t, `replies: [{text: "a\0{{last_user}}"}]`)
	if got := text(t, s, request(user("b\x00\xff"))); got != "a\uFFFDb\uFFFD\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func TestArgumentsStayJSONWhateverIsFilledIn(t *testing.T) {
	s := parse(t, `
replies:
  - tool_calls:
      - {name: a, arguments: {x: "<{{last_user}}>", y: ["{{tool_result}}", {z: "\\{{ordinal}}"}]}}
`)
	nasty := "\"quoted\"\n\\ & 🙂 {\"a\": 1}"
	reply, _, err := ask(t, s, request(user(nasty), result("\x01")))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		X string
		Y []any
	}
	if err := json.Unmarshal([]byte(reply.Parts[0].Call.Arguments), &got); err != nil {
		t.Fatal(err)
	}
	if got.X != "<"+nasty+">" || got.Y[0] != "\x01" || got.Y[1].(map[string]any)["z"] != `\1` {
		t.Errorf("got %+v", got)
	}
}

func TestStringArgumentsAreSentByteForByte(t *testing.T) {
	const raw = `{"path": "{{last_user}}", `
	src, _ := json.Marshal(map[string]any{"replies": []any{map[string]any{
		"tool_calls": []any{map[string]any{"name": "a", "arguments": raw}},
	}}})
	reply, _, err := ask(t, parse(t, string(src)), request(user("x")))
	if err != nil || reply.Parts[0].Call.Arguments != raw {
		t.Errorf("got %+v, %v", reply.Parts, err)
	}
}

func TestArgumentsKeepTheirOrderAndNumbers(t *testing.T) {
	for src, want := range map[string]string{
		`{z: 1, a: 2, m: {k: 0, b: 1}}`:        `{"z":1,"a":2,"m":{"k":0,"b":1}}`,
		`{n: 12345678901234567890, f: 1.50}`:   `{"n":12345678901234567890,"f":1.50}`,
		`{h: 0x1F, t: True, n: ~, e: , s: ""}`: `{"h":31,"t":true,"n":null,"e":null,"s":""}`,
		`{date: 2026-01-02, yes: yes, 1: "1"}`: `{"date":"2026-01-02","yes":"yes","1":"1"}`,
		`{html: "<a> & b", l: [], o: {}}`:      `{"html":"<a> & b","l":[],"o":{}}`,
	} {
		reply, _, err := ask(t, parse(t, "replies: [{tool_calls: [{name: a, arguments: "+src+"}]}]"), request(user("x")))
		if err != nil || reply.Parts[0].Call.Arguments != want {
			t.Errorf("%s: got %+v, %v", src, reply.Parts[0].Call, err)
		}
	}
}
