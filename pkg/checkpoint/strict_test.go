package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// readWhole reads a checkpoint that must be sound.
func readWhole(fsys FS, name string) (head, error) {
	_, h, err := readCheckpoint(fsys, name, 1<<30)
	return h, err
}

// What changes a line that is sealed again, so that only its form can show it.
var forged = map[string][2]string{
	"another key before":   {`"seq":2`, `"Seq":9,"seq":2`},
	"another key behind":   {`"seq":2`, `"seq":2,"Seq":9`},
	"upper case":           {`"type":`, `"TYPE":`},
	"a key twice":          {`"seq":2`, `"seq":2,"seq":2`},
	"type twice":           {`"type":"user/message"`, `"type":"session/removed","type":"user/message"`},
	"data twice":           {`}}`, `},"data":{"source":"user","text":"other"}}`},
	"data twice, odd case": {`}}`, `},"DATA":{"source":"user","text":"other"}}`},
	"a crc":                {`"prev"`, `"crc":"00000000","prev"`},
	"an escaped key":       {`"seq"`, `"se\u0071"`},
	"a new key":            {`"type"`, `"new":1,"type"`},
	"a key missing":        {`"scope":"",`, ``},
	"another order":        {`"dur":1,"seq":2`, `"seq":2,"dur":1`},
	"a space":              {`"dur":1`, `"dur": 1`},
	"a space before":       {`"prev"`, ` "prev"`},
	"a fraction":           {`"seq":2`, `"seq":2.0`},
	"an exponent":          {`"seq":2`, `"seq":2e0`},
	"a sign":               {`"seq":2`, `"seq":+2`},
	"a zero before":        {`"seq":2`, `"seq":02`},
	"a number as text":     {`"seq":2`, `"seq":"2"`},
	"no number":            {`"seq":2`, `"seq":`},
	"too large a number":   {`"seq":2`, `"seq":99999999999999999999`},
	"prev in upper case":   {`"prev":"abcdef01"`, `"prev":"ABCDEF01"`},
	"prev too short":       {`"prev":"abcdef01"`, `"prev":"1"`},
	"prev null":            {`"prev":"abcdef01"`, `"prev":null`},
	"no time":              {`"2026`, `"26`},
	"a bad scope":          {`"scope":""`, `"scope":"\x"`},
	"scope null":           {`"scope":""`, `"scope":null`},
	"data null":            {`{"source":"user","text":"hello"}`, `null`},
	"data a list":          {`{"source":"user","text":"hello"}`, `[{"source":"user","text":"hello"}]`},
	"no data":              {`{"source":"user","text":"hello"}`, ``},
	"data in odd case":     {`"text":"hello"`, `"text":"hello","Text":"bye"`},
	"odd case alone":       {`"text":"hello"`, `"Text":"hello"`},
	"a field twice":        {`"text":"hello"`, `"text":"hello","text":"bye"`},
	"bytes behind it":      {`}}`, `}} {}`},
	"a second value":       {`}}`, `}{}}`},
	"not closed":           {`}}`, `}`},
}

// A line whose checksum fits and whose form does not was forged, or written by
// something else: it is damage, whoever promised it, and nobody shows it as an
// event that another tool would not see.
func TestLinesThatReadersWouldReadDifferentlyAreDamage(t *testing.T) {
	line := encode(t, record{Event: event(2, &session.UserMessage{Source: session.FromUser, Text: "hello"}), prev: 0xabcdef01, dur: 1})
	for name, c := range forged {
		body := strings.Replace(string(line[crcLen:len(line)-1]), c[0], c[1], 1)
		if body == string(line[crcLen:len(line)-1]) {
			t.Fatalf("%s changes nothing in %s", name, line)
		}
		rec, err := decodeLine(sealed([]byte(body)))
		if err == nil || err == errTornLine || err == errChecksum {
			t.Errorf("%s: %v, %+v", name, err, rec)
		}
	}
	lines, crcs := logOf(t, 0, 0)
	bad := encode(t, record{Event: event(3, &session.UserMessage{Text: "x"}), prev: crcs[1]})
	bad = sealed(bytes.Replace(bad[crcLen:len(bad)-1], []byte(`"data"`), []byte(`"Seq":9,"data"`), 1))
	_, seqs, err := scanBytes(append(bytes.Join(lines, nil), bad...), promise{})
	var d *damage
	if !errors.As(err, &d) || d.offset != int64(len(lines[0])+len(lines[1])) || len(seqs) != 2 {
		t.Errorf("a forged line that nobody promised: %v after %v", err, seqs)
	}
}

func TestLinesMayHoldMoreInTheirData(t *testing.T) {
	line := encode(t, record{Event: event(2, &session.UserMessage{Source: session.FromUser, Text: "hello"})})
	for _, more := range []string{`,"new":{"text":"x","Text":[1,{}]}`, `,"New":1,"New":2`, ` `} {
		body := strings.Replace(string(line[crcLen:len(line)-1]), `}}`, more+`}}`, 1)
		rec, err := decodeLine(sealed([]byte(body)))
		if err != nil || rec.Data.(*session.UserMessage).Text != "hello" {
			t.Errorf("%s: %v, %+v", more, err, rec)
		}
	}
	for _, scope := range []string{"node/读取", `a"b\c`, "\u2028\x01", "plan-2"} {
		e := event(2, &session.UserMessage{Source: session.FromUser, Text: "hello"})
		e.Scope = scope
		if rec, err := decodeLine(encode(t, record{Event: e})); err != nil || rec.Scope != scope {
			t.Errorf("scope %q: %v, %q", scope, err, rec.Scope)
		}
	}
}

// A checkpoint is a projection: one that readers would read differently is
// set aside and made anew.
func TestCheckpointsThatReadersWouldReadDifferentlyAreSetAside(t *testing.T) {
	for name, c := range map[string][2]string{
		"odd case in the head":  {`"status":"completed"`, `"status":"completed","Status":"failed"`},
		"odd case alone":        {`"usage":`, `"Usage":`},
		"twice in the head":     {`"status":"completed"`, `"status":"failed","status":"completed"`},
		"deep in the head":      {`"tokenUsage"`, `"TokenUsage":1,"tokenUsage"`},
		"a promise of its own":  {`"log":{`, `"log":{"Seq":1,`},
		"a second log":          {`"settings":`, `"log":{"seq":1},"settings":`},
		"a second log, behind":  {`"messages":`, `"LOG":{},"messages":`},
		"a message":             {`"content":`, `"Content":"x","content":`},
		"a call of a message":   {`"arguments":`, `"arguments":"x","arguments":`},
		"a second messages":     {`]}` + "\n", `],"messages":[]}` + "\n"},
		"a bomb behind it":      {`"messages":`, `"x":` + strings.Repeat("[", 1<<20) + `,"messages":`},
		"a bomb in front of it": {`"agentType":`, `"x":` + strings.Repeat("[", 1<<20) + `,"agentType":`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newTestStore(t.TempDir())
			finished(t, s, "s")
			good := slurp(t, s.Path("s"))
			bad := bytes.Replace(good, []byte(c[0]), []byte(c[1]), 1)
			if bytes.Equal(good, bad) {
				t.Fatalf("nothing was changed in %s", good)
			}
			write(t, s.Path("s"), bad)
			report, err := s.Verify("s")
			if check(t, err); report.OK || !report.Damaged() {
				t.Errorf("verified: %+v", report)
			}
			j, rec := reopen(t, s, "s")
			check(t, j.Commit())
			check(t, j.Close())
			if len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0], "kept as") {
				t.Errorf("warnings %q", rec.Warnings)
			}
			if _, err := readWhole(OS{}, s.Path("s")); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzOneReading: of what is read as an event, a tool that takes keys as they
// are written, and the last of two, makes the same.
func FuzzOneReading(f *testing.F) {
	for _, c := range forged {
		f.Add("user/message", []byte(strings.Replace(`{"source":"user","text":"hello"}`, c[0], c[1], 1)))
	}
	f.Add("assistant/message", []byte(`{"parts":[{"type":"text","text":"x","opaque":{"a":1,"a":2}}],"usage":{"total":1}}`))
	f.Add("tool/result", []byte(`{"call":"1.0","outcome":"ok","text":"x","exitCode":3,"artifact":{"ref":"a","bytes":1}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		d, err := session.DecodeData(session.Type(kind), data)
		if err != nil || len(data) == 0 {
			return
		}
		other, err := session.DecodeData(session.Type(kind), reread(t, data))
		if err != nil || !reflect.DeepEqual(plain(t, d), plain(t, other)) {
			t.Errorf("%s %s: %v\n got %+v\nelse %+v", kind, data, err, d, other)
		}
	})
}

// reread is JSON as it comes out of a tool that knows nothing of its types.
func reread(t tb, b []byte) []byte {
	t.Helper()
	out, err := json.Marshal(plain(t, json.RawMessage(b)))
	check(t, err)
	return out
}

func plain(t tb, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	check(t, err)
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	check(t, dec.Decode(&out))
	return out
}

// The opaque data of vendors are theirs: keys are not looked at.
func TestVendorsMayWriteWhatTheyLike(t *testing.T) {
	opaque := json.RawMessage(`{"Type":1,"type":2,"type":3}`)
	e := event(3, &session.AssistantMessage{Parts: []message.Part{{Type: message.TypeReasoning, Opaque: opaque}}})
	got, err := decodeLine(encode(t, record{Event: e}))
	check(t, err)
	if o := got.Data.(*session.AssistantMessage).Parts[0].Opaque; string(o) != string(opaque) {
		t.Errorf("opaque data became %s", o)
	}
}
