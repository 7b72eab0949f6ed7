package providertest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"kagent/pkg/message"
)

// Fuzz feeds any bytes to the adapter's decoder: the sizes of reads change
// nothing, a reply is clean, and it can go back. More seeds may be given.
func Fuzz(f *testing.F, a Adapter, seeds ...string) {
	short := Answer{Reasoning: []string{`"hm"`}, Text: []string{`"h"`, `"i"`}, Calls: []Call{{"c", "f", `{}`}}}
	dresses := a.Wire.dresses(a.Wire.Answer(short)) // seeds that are long keep the fuzzer from its work
	for _, name := range []string{"plain", "CR", "comments", "no event names", "unknown events"} {
		f.Add(dresses[name])
	}
	for _, end := range []End{AtLimit, Filtered, Unknown} {
		f.Add(a.Wire.frame(a.Wire.Answer(Answer{Text: []string{`"x\ud83d"`}, End: end})))
	}
	f.Add(a.Wire.frame(a.Wire.Error("too busy")))
	f.Add(a.Wire.Body("went wrong"))
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		reply, err := a.answer(t, strings.NewReader(body))
		again, err2 := a.answer(t, iotest.OneByteReader(strings.NewReader(body)))
		if !reflect.DeepEqual(reply, again) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("at once %v, %v; byte by byte %v, %v", reply, err, again, err2)
		}
		if err != nil {
			failed(t, err)
			return
		}
		for _, p := range reply.Parts {
			texts := []string{p.Text, string(p.Opaque)}
			if p.Call != nil {
				texts = append(texts, p.Call.ID, p.Call.Name, p.Call.Arguments)
			}
			for _, s := range texts {
				if s != message.Clean(s) {
					t.Errorf("%q is not clean", s)
				}
			}
		}
		checkBody(t, a.sent(t, a.next(reply)))
	})
}
