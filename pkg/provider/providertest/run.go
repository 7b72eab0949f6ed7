package providertest

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Run checks an adapter against bytes made by hand.
func Run(t *testing.T, a Adapter) {
	for name, test := range map[string]func(*testing.T, Adapter){
		"every dress of a stream":          testDresses,
		"what the reply says":              testContent,
		"half characters":                  testHalfCharacters,
		"ends":                             testEnds,
		"arguments":                        testArguments,
		"wrong types":                      testWrongTypes,
		"odd usage":                        testOddUsage,
		"one giant line":                   testGiantLine,
		"no answer":                        testNoAnswer,
		"cut anywhere":                     testCut,
		"nothing is read after the end":    testNothingAfterTheEnd,
		"silence":                          testSilence,
		"the caller's end":                 testCancelled,
		"statuses":                         testStatuses,
		"waits":                            testWaits,
		"secrets":                          testSecrets,
		"redirections":                     testRedirections,
		"a reply goes back":                testReplay,
		"a request is not changed by this": testRequestUntouched,
	} {
		t.Run(name, func(t *testing.T) { test(t, a) })
	}
}

// example says something of everything.
func example() Answer {
	return Answer{
		Reasoning: Literals("let me see", 4),
		Text:      Literals("Grüße, 😀 & <all>!", 3),
		Calls:     []Call{{"call_1", "read_file", `{"path":"a b","n":1}`}, {"call_2", "read_file", `{"path":"c"}`}},
		Usage:     message.Usage{Input: 11, CacheRead: 4, Output: 7, Reasoning: 2, Total: 18},
	}
}

// answerWith returns the reply to what the answer says in its plainest form.
func (a Adapter) answerWith(t *testing.T, said Answer) (provider.Reply, error) {
	t.Helper()
	return a.answer(t, strings.NewReader(a.Wire.frame(a.Wire.Answer(said))))
}

func testContent(t *testing.T, a Adapter) {
	said := example()
	reply, err := a.answerWith(t, said)
	if err != nil {
		t.Fatal(err)
	}
	if textOf(reply) != "Grüße, 😀 & <all>!" || reasoningOf(reply) != "let me see" || reply.Stop != message.StopCalls {
		t.Errorf("reply %+v", reply)
	}
	for i, c := range callsOf(reply) {
		want := said.Calls[i]
		if c.ID != want.ID && c.ID != "" || c.Name != want.Name || c.Arguments != want.Arguments {
			t.Errorf("call %+v, want %+v", c, want)
		}
	}
	if got := len(callsOf(reply)); got != len(said.Calls) {
		t.Errorf("%d calls, want %d", got, len(said.Calls))
	}
	u := reply.Usage
	if u.CacheRead == 0 { // not every protocol tells these
		u.CacheRead = said.Usage.CacheRead
	}
	if u.Reasoning == 0 {
		u.Reasoning = said.Usage.Reasoning
	}
	if u != said.Usage {
		t.Errorf("usage %+v, want %+v", reply.Usage, said.Usage)
	}
}

// F061 to F066: the dress doesn't change what is said, nor do the sizes of reads.
func testDresses(t *testing.T, a Adapter) {
	events := a.Wire.Answer(example())
	want, err := a.answer(t, strings.NewReader(a.Wire.frame(events)))
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, header http.Header, body io.Reader) {
		t.Helper()
		got, err := a.ask(t, Options{HTTPClient: Canned(http.StatusOK, header, body)})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	for name, body := range a.Wire.dresses(events) {
		check(name, nil, strings.NewReader(body))
		check(name+", one byte at a time", nil, iotest.OneByteReader(strings.NewReader(body)))
		if name == "gzip without header" {
			continue // packed already
		}
		check(name+", gzip", http.Header{"Content-Encoding": {"gzip"}}, strings.NewReader(zip(body)))
	}
	check("the wrong type", http.Header{"Content-Type": {"text/plain"}}, strings.NewReader(a.Wire.frame(events)))
}

// F021, F066: half characters wait for their other half, or become U+FFFD.
func testHalfCharacters(t *testing.T, a Adapter) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{`"x\ud83d"`, `"\ude00y"`}, "x😀y"},
		{[]string{`"x\ud83d\ude00y"`}, "x😀y"},
		{[]string{`"x\ud83d"`, `"y"`}, "x\uFFFDy"},
		{[]string{`"x\ud83d"`}, "x\uFFFD"},
		{[]string{`"\ude00"`}, "\uFFFD"},
		{[]string{`"x\\ud83d"`, `"y"`}, `x\ud83dy`},
		{[]string{"\"x\xff\"", `"y"`}, "x\uFFFDy"},
		{[]string{`"x\u0000y"`}, "x\uFFFDy"},
	} {
		for _, said := range []Answer{{Text: c.pieces}, {Reasoning: c.pieces, Text: []string{`"z"`}}} {
			reply, err := a.answerWith(t, said)
			if got := strings.TrimSuffix(reasoningOf(reply)+textOf(reply), "z"); err != nil || got != c.want {
				t.Errorf("%q: %q, %v; want %q", c.pieces, got, err, c.want)
			}
		}
	}
}

// F057, F058: what isn't known to be an end is no success.
func testEnds(t *testing.T, a Adapter) {
	text := Answer{Text: Literals("The answer is", 5)}
	calls := Answer{Calls: []Call{{"call_1", "rm", `{"path":"a"}`}}}
	for _, said := range []Answer{text, calls} {
		for end, want := range map[End]message.StopReason{AtLimit: message.StopLength, Filtered: message.StopFilter} {
			said.End = end
			reply, err := a.answerWith(t, said)
			if err == nil && reply.Stop != want {
				t.Errorf("%s: stop %q, want %q", end, reply.Stop, want)
			}
			if err != nil && end == AtLimit {
				t.Errorf("%s: %v", end, err)
			}
		}
		said.End = Unknown
		reply, err := a.answerWith(t, said)
		if err == nil {
			t.Errorf("an unknown end became %+v", reply)
			continue
		}
		failed(t, err)
	}
	a.failsBy(t, Answer{Text: text.Text, End: Full}, provider.ContextLength, "context was full")
	if a.Protocol != "openai-responses" {
		a.failsBy(t, Answer{Text: text.Text, End: Calling}, provider.Server, "no call")
		a.failsBy(t, Answer{End: Calling}, provider.Server, "no call")
		if reply, err := a.answerWith(t, Answer{Calls: calls.Calls, End: Calling}); err != nil || reply.Stop != message.StopCalls {
			t.Errorf("a call: %v, %v", reply, err)
		}
	}
	text.End = Finished
	if reply, err := a.answerWith(t, text); err != nil || reply.Stop != message.StopEnd || textOf(reply) != "The answer is" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// failsBy: what ended so is no answer.
func (a Adapter) failsBy(t *testing.T, said Answer, kind provider.Kind, says string) {
	t.Helper()
	reply, err := a.answerWith(t, said)
	if err == nil {
		t.Errorf("%s became %+v", said.End, reply)
	} else if e := failed(t, err); e.Kind != kind || !strings.Contains(e.Message, says) {
		t.Errorf("%s: %v, want %s: %s", said.End, e, kind, says)
	}
}

// F065
func testGiantLine(t *testing.T, a Adapter) {
	n := 4 << 20 // 40 MiB
	if hurry {
		n >>= 5
	}
	text := strings.Repeat("äöü😀", n)
	reply, err := a.answerWith(t, Answer{Text: []string{`"` + text + `"`}})
	if err != nil || textOf(reply) != text {
		t.Errorf("%d bytes of %d, %v", len(textOf(reply)), len(text), err)
	}
}

// F067
func testCut(t *testing.T, a Adapter) {
	said := Answer{Reasoning: Literals("hm", 1), Text: Literals("Grüße 😀", 4), Calls: example().Calls[:1], Usage: example().Usage}
	events := a.Wire.Answer(said)
	for name, body := range a.Wire.dresses(events) {
		switch name {
		case "plain", "CR", "CRLF", "comments", "unknown events", "no final newline", "blanks around":
			t.Run(name, func(t *testing.T) { a.cut(t, body, 3) })
		}
	}
	t.Run("connections", func(t *testing.T) { a.cutConnections(t, a.Wire.frame(events)) })
}

// F069: after its end a stream may stay open for as long as it likes.
func testNothingAfterTheEnd(t *testing.T, a Adapter) {
	if !a.Wire.Ends {
		t.Skip("this protocol's streams end with the connection")
	}
	body := a.Wire.frame(a.Wire.Answer(example()))
	touched := fmt.Errorf("read on")
	reply, err := a.answer(t, iotest.OneByteReader(io.MultiReader(strings.NewReader(body), iotest.ErrReader(touched))))
	if err != nil || textOf(reply) == "" {
		t.Errorf("%v, %v", reply, err)
	}
}
