package session_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/session"
)

func TestTheKindsAreThoseOfTheExamples(t *testing.T) {
	var want []session.Type
	for _, d := range examples() {
		want = append(want, d.Type())
	}
	slices.Sort(want)
	if got := session.Kinds(); !slices.Equal(got, want) {
		t.Errorf("the kinds are %q, want %q", got, want)
	}
}

// Whatever encoding/json would make of them: another tool takes the keys as
// they are written, and the last of two.
func TestKeysThatMeanSomethingElseElsewhereAreRefused(t *testing.T) {
	for data, kind := range map[string]session.Type{
		`{"source":"user","Text":"x"}`:                                                    "user/message",
		`{"source":"user","text":"a","TEXT":"b"}`:                                         "user/message",
		`{"source":"user","text":"a","text":"b"}`:                                         "user/message",
		`{"source":"user","text":"a","te\u0078t":"b"}`:                                    "user/message",
		`{"source":"user","te\u0058t":"b"}`:                                               "user/message",
		`{"ſource":"user","text":"a"}`:                                                    "user/message",
		`{ "source" : "user" , "text" : "a" , "text" : "b" }`:                             "user/message",
		`{"settings":{"agent":"a","Agent":"b"}}`:                                          "settings/changed",
		`{"settings":{"limits":{"maxSteps":1,"MaxSteps":2}}}`:                             "settings/changed",
		`{"settings":{"agent":"a"},"settings":{}}`:                                        "settings/changed",
		`{"parts":[{"type":"text"},{"type":"tool_call","call":{"name":"a","Name":"b"}}]}`: "assistant/message",
		`{"parts":[],"x":[{"y":"]"}],"usage":{"total":1,"total":2}}`:                      "assistant/message",
		`{"call":"1.0","change":{"path":"a","path":"b"}}`:                                 "tool/call",
		`{"from":"x","lost":[{"first":1},{"first":1,"First":2}]}`:                         "session/repaired",
		`null`: "session/removed",
		` `:    "session/removed",
	} {
		if d, err := session.DecodeData(kind, []byte(data)); err == nil {
			t.Errorf("%s %s was read as %+v", kind, data, d)
		}
	}
}

func TestFieldsThatAreNotKnownAreAllowed(t *testing.T) {
	for data, kind := range map[string]session.Type{
		`{"source":"user","text":"a","new":1,"New":{"text":1,"text":2}}`:                          "user/message",
		"\n{\t\"source\" : \"user\", \"text\" : \"a\" }\r\n":                                      "user/message",
		`{"source":"user","text":"\"}],\\","more":["\\\"",{},[],null,1e9,true]}`:                  "user/message",
		`{"parts":[{"type":"reasoning","opaque":{"Type":1,"type":2,"type":3}}],"usage":{"x":[]}}`: "assistant/message",
		`{"settings":null}`:   "settings/changed",
		`{"a":1,"a":2,"A":3}`: "vote/cast",
	} {
		if _, err := session.DecodeData(kind, []byte(data)); err != nil {
			t.Errorf("%s %s: %v", kind, data, err)
		}
	}
}

func TestAnEventOfAnotherFormIsRefused(t *testing.T) {
	for _, line := range []string{
		`{"seq":1,"Seq":2,"type":"user/message","data":{}}`, `{"seq":1,"seq":2,"type":"user/message","data":{}}`,
		`{"seq":1,"TYPE":"user/message","data":{}}`, `{"type":"user/message","data":{},"data":{}}`,
	} {
		var e session.Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%s was read as %+v", line, e)
		}
	}
}

// A list of {} takes 72 bytes of memory for 3 of text.
func TestDataTakeNoMoreMemoryThanTheyAreWorth(t *testing.T) {
	const n = 3 << 20
	for data, kind := range map[string]session.Type{
		`{"parts":[` + strings.Repeat("{},", n) + `{}]}`:             "assistant/message",
		`{"parts":[` + strings.Repeat("[],", n) + `{}]}`:             "assistant/message",
		`{"from":"x","lost":[` + strings.Repeat("{},", n) + `{}]}`:   "session/repaired",
		`{"model":"x","tools":[` + strings.Repeat(`"",`, n) + `""]}`: "request/header",
		`{"model":"x","tools":` + strings.Repeat(`[`, n):             "request/header",
		`{"model":"x","new":` + strings.Repeat(`[`, n):               "request/header",
		strings.Repeat(`{"a":`, n):                                   "request/header",
		strings.Repeat(`[`, n):                                       "vote/cast",
	} {
		var before, after runtime.MemStats
		b := []byte(data)
		runtime.ReadMemStats(&before)
		_, err := session.DecodeData(kind, b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > n {
			t.Errorf("%s %.40s…: %v, %d bytes taken", kind, data, err, took)
		}
	}
	parts := bytes.Repeat([]byte(`{"type":"text"},`), 100_000)
	data := append(append([]byte(`{"parts":[`), parts[:len(parts)-1]...), "]}"...)
	if d, err := session.DecodeData("assistant/message", data); err != nil || len(d.(*session.AssistantMessage).Parts) != 100_000 {
		t.Errorf("a long reply: %v", err)
	}
}
