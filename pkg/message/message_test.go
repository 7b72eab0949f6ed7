package message_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kagent/pkg/message"
)

// F021: one such character in a history and strict services refuse it for ever.
func TestCleanTextIsUTF8WithoutNUL(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain":                   "plain",
		"Grüße 😀\n\t":             "Grüße 😀\n\t",
		"a\x00b":                  "a\uFFFDb",
		"x\xed\xa0\xbd":           "x\uFFFD", // a lone surrogate as bytes
		"\xff\xfe":                "\uFFFD",
		"cut \xf0\x9f\x98":        "cut \uFFFD",
		"\x00\x00":                "\uFFFD\uFFFD",
		"already \uFFFD":          "already \uFFFD",
		"\xc3\x28":                "\uFFFD(",
		strings.Repeat("ä", 5000): strings.Repeat("ä", 5000),
	} {
		if got := message.Clean(in); got != want {
			t.Errorf("Clean(%.40q) = %.40q, want %.40q", in, got, want)
		}
	}
}

func TestCleaningIsDoneOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		got := message.Clean(in)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Fatalf("Clean(%q) = %q", in, got)
		}
		if message.Clean(got) != got {
			t.Fatalf("Clean changes its own result for %q", in)
		}
		if utf8.ValidString(in) && !strings.ContainsRune(in, 0) && got != in {
			t.Fatalf("Clean(%q) = %q, but it was clean", in, got)
		}
		// What went through a log must come out as it went in.
		b, err := json.Marshal(got)
		var back string
		if err != nil || json.Unmarshal(b, &back) != nil || back != got {
			t.Fatalf("%q came back from JSON as %q, %v", got, back, err)
		}
	})
}

func everyPart() message.Message {
	return message.Message{
		Role: message.Assistant, Model: "p/m", Time: time.Date(2026, 12, 1, 8, 0, 0, 5, time.UTC),
		Parts: []message.Part{
			{Type: message.TypeReasoning, Text: "hm", Opaque: json.RawMessage(`{"signature":"s="}`)},
			message.Text("one"),
			message.Call(message.ToolCall{ID: "a", Name: "x", Arguments: "{not json"}),
			message.Text(" two"),
			message.Call(message.ToolCall{Name: "y", Arguments: "{}"}),
			message.Result(message.ToolResult{ID: "a", Name: "x", Text: "r", IsError: true}),
		},
	}
}

func TestAMessageSurvivesJSON(t *testing.T) {
	want := everyPart()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got message.Message
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if b, _ := json.Marshal(message.Message{Role: message.User, Parts: []message.Part{message.Text("hi")}}); string(b) != `{"role":"user","parts":[{"type":"text","text":"hi"}]}` {
		t.Errorf("unset fields are written: %s", b)
	}
}

func TestTextIsTheTextPartsAlone(t *testing.T) {
	if got := everyPart().Text(); got != "one two" {
		t.Errorf("Text() = %q", got)
	}
	if got := (message.Message{}).Text(); got != "" {
		t.Errorf("Text() of nothing = %q", got)
	}
}

func TestCallsKeepTheirOrder(t *testing.T) {
	want := []message.ToolCall{{ID: "a", Name: "x", Arguments: "{not json"}, {Name: "y", Arguments: "{}"}}
	if got := everyPart().Calls(); !reflect.DeepEqual(got, want) {
		t.Errorf("Calls() = %+v", got)
	}
	// A log may hold anything: a call without its body is none.
	if got := (message.Message{Parts: []message.Part{{Type: message.TypeCall}}}).Calls(); got != nil {
		t.Errorf("Calls() = %+v", got)
	}
}

func TestUsageAddsEveryField(t *testing.T) {
	var one message.Usage
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1)) // a new field that Add forgets shows here
	}
	sum := reflect.ValueOf(one.Add(one))
	for i := range v.NumField() {
		if got, want := sum.Field(i).Int(), int64(2*(i+1)); got != want {
			t.Errorf("%s is %d after adding, want %d", v.Type().Field(i).Name, got, want)
		}
	}
	if one.Add(message.Usage{}) != one {
		t.Error("adding nothing changes something")
	}
}

// F021: what a strict service refuses for ever is mended in JSON text too.
func TestCleanEscapesMendsHalvesAndNUL(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\ud83d"}`:        `{"a":"\ufffd"}`,
		`{"a":"\ud83d\ude00"}`:  `{"a":"\ud83d\ude00"}`,
		`{"a":"\\ud83d"}`:       `{"a":"\\ud83d"}`,
		`{"a":"\u0000x\udc00"}`: `{"a":"\ufffdx\ufffd"}`,
		`{"a":"你好"}`:            `{"a":"你好"}`,
		`\`:                     `\`,
	} {
		if got := message.CleanEscapes(in); got != want {
			t.Errorf("CleanEscapes(%s) = %s, want %s", in, got, want)
		}
	}
}
