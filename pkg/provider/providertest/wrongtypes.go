package providertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// testWrongTypes puts a value of each other type in the place of each field of
// a stream. What comes of it is the same answer, or a failure in plain words:
// never a panic, never another answer that looks as good.
//
// Null is as good as absent in every protocol, so that it has to mean what the
// stream means without the field.
func testWrongTypes(t *testing.T, a Adapter) {
	bending{a, a.Wire.frame, false}.bend(t, a.Wire.Answer(example()))
}

// How many recorded answers of a protocol have their types changed, and their
// largest size: the work grows with its square.
const (
	bentAnswers = 10
	bentSize    = 5 << 10
)

// WrongTypes puts a value of each other type in the place of each field of
// recorded answers, streams and whole ones, the shortest of each cluster.
func WrongTypes(t *testing.T, a Adapter) {
	list := slices.DeleteFunc(a.recordings(t), func(r recording) bool {
		return r.Expected.Outcome != "ok" || len(r.Response.Body) > bentSize || wrongCases()[r.ID]+unsure()[r.ID] != "" || r.Response.Status != http.StatusOK
	})
	slices.SortFunc(list, func(a, b recording) int {
		return cmp.Or(len(a.Response.Body)-len(b.Response.Body), strings.Compare(a.ID, b.ID))
	})
	for _, streams := range []bool{true, false} {
		seen := map[string]bool{}
		for _, r := range list {
			if r.Stream != streams || seen[r.Cluster] || len(seen) == bentAnswers {
				continue
			}
			seen[r.Cluster] = true
			b, events := bending{a, a.Wire.frame, false}, unframed(r.Response.Body)
			if !streams || a.Wire.NDJSON {
				b.write, events = Wire{NDJSON: true}.frame, values(r.Response.Body)
				b.json = a.Protocol == "openai-chat"
			}
			t.Run(r.ID, func(t *testing.T) { b.bend(t, events) })
		}
	}
}

// testOddUsage: of what can't be read as a number of tokens nobody makes one,
// and no answer is lost with it.
func testOddUsage(t *testing.T, a Adapter) {
	said := Answer{Text: Literals("well", 9), Usage: message.Usage{Input: 1234567, Output: 7654321, Total: 8888888}}
	whole := a.Wire.frame(a.Wire.Answer(said))
	for _, odd := range []string{`1e99`, `-5`, `1.5`, `"many"`, `[]`, `{}`, `null`, `true`, `123456789012345`} {
		for _, count := range []string{"1234567", "7654321"} {
			reply, err := a.answer(t, strings.NewReader(strings.ReplaceAll(whole, count, odd)))
			if err != nil || textOf(reply) != "well" || reply.Usage != (message.Usage{}) {
				t.Errorf("%s for %s: %+v, %v; want no usage", odd, count, reply, err)
			}
		}
	}
	// Forms that say the same.
	reply, err := a.answer(t, strings.NewReader(strings.NewReplacer("1234567", `"1234567"`, "7654321", "7654321.0").Replace(whole)))
	if err != nil || reply.Usage != said.Usage {
		t.Errorf("%+v, %v", reply, err)
	}
}

// goWords are those of encoding/json and of our own types.
func goWords() *regexp.Regexp {
	return regexp.MustCompile(`json:|unmarshal|Go (struct|value)|map\[|\*\w+\.|\b(sse|openai|anthropic|gemini|ollama|responses)\.\w`)
}

// bending changes answers that are written in one way.
type bending struct {
	Adapter
	write func([]Event) string
	json  bool // an object is as good as a text, where it is the whole of an answer
}

// bend is testWrongTypes for one answer.
func (a bending) bend(t *testing.T, events []Event) {
	t.Helper()
	want, err := a.answer(t, strings.NewReader(a.write(events)))
	if err != nil {
		t.Skip(err) // not an answer
	}
	for i, e := range events {
		root, ok := parsed(e.Data)
		if !ok {
			continue // [DONE]
		}
		for _, at := range places(root, nil) {
			for _, other := range []any{nil, json.Number("7"), true, "x", []any{json.Number("7")}, map[string]any{"x": json.Number("7")}} {
				was := lookup(root, at)
				if fits(other, was, at[len(at)-1]) || a.json && slices.Contains(at, any("content")) && reflect.TypeOf(other) == reflect.TypeFor[map[string]any]() {
					continue // another value of the right type is another answer
				}
				got, err := a.instead(t, events, i, put(root, at, other))
				if was == nil && err == nil {
					continue // perhaps it was of the right type
				}
				if other == nil && a.missing(t, events, i, remove(root, at), got, err) {
					continue
				}
				if problem := bent(want, got, err); problem != "" {
					t.Errorf("event %d, %v is %v: %s", i, at, other, problem)
				}
			}
		}
	}
}

// fits reports whether a value is of the right type for a field. Arguments may
// be an object everywhere; a list of what doesn't belong into it is wrong.
func fits(other, was, key any) bool {
	kind := reflect.TypeOf(other)
	if kind == reflect.TypeFor[map[string]any]() && (key == "arguments" || key == "partial_json") {
		return true
	}
	return kind == reflect.TypeOf(was) && kind != reflect.TypeFor[[]any]()
}

// instead returns the reply to the stream with another value in one event.
func (a bending) instead(t *testing.T, events []Event, i int, value any) (provider.Reply, error) {
	list := slices.Clone(events)
	raw, _ := json.Marshal(value) // was parsed
	list[i].Data = string(raw)
	return a.answer(t, strings.NewReader(a.write(list)))
}

// missing reports whether the stream without a field means the same.
func (a bending) missing(t *testing.T, events []Event, i int, value any, got provider.Reply, err error) bool {
	without, err2 := a.instead(t, events, i, value)
	return (err == nil) == (err2 == nil) && bent(without, got, nil) == ""
}

// bent says what is wrong with what came of a stream that was bent.
func bent(want, got provider.Reply, err error) string {
	if err != nil {
		e, problem := judged(err)
		switch {
		case problem != "":
			return problem
		case goWords().MatchString(e.Message):
			return "Go words: " + e.Message
		}
		return ""
	}
	said := func(r provider.Reply) string {
		s := sorted(textOf(r)) + " " + string(r.Stop)
		for _, c := range callsOf(r) {
			s += "\n" + c.Name + " " + sorted(c.Arguments)
		}
		return s
	}
	if said(got) != said(want) && !slices.ContainsFunc(callsOf(got), func(c message.ToolCall) bool { return !isObject(c.Arguments) }) {
		return fmt.Sprintf("another answer:\n%s\nwant\n%s", said(got), said(want))
	}
	u, w := got.Usage, want.Usage
	if u != (message.Usage{}) && (u.Input != w.Input || u.Total != w.Total && u.Total != w.Total-w.Reasoning) {
		return fmt.Sprintf("usage %+v, want %+v or none", u, w)
	}
	return ""
}
