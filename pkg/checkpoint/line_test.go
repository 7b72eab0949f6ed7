package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func event(seq int64, d session.Data) session.Event {
	return session.Event{Seq: seq, Epoch: 2, Time: time.Unix(1767225600, 123456789).UTC(), Scope: "", Type: d.Type(), Data: d}
}

func encode(t tb, r record) []byte {
	t.Helper()
	var buf bytes.Buffer
	_, err := appendLine(&buf, r)
	check(t, err)
	return buf.Bytes()
}

func TestLineKeepsWhatWasSaid(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "chinese": "读取文件，然后回答。", "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 done", "rtl": "שלום \u202eabc\u202c مرحبا",
		"html": `<a href="x">&amp;</a>`, "controls": "a\x00b\x1b[31m\r\n\t\u2028\u2029\x7f",
		"quotes": `{"crc":"00000000","prev":"\"\\`, "bom": "\ufeffx", "huge": strings.Repeat("0123456789abcdef", 1<<17),
	} {
		t.Run(name, func(t *testing.T) {
			e := event(17, &session.UserMessage{Source: session.FromUser, Text: text})
			line := encode(t, record{Event: e, prev: 0x51b20e44, dur: 14})
			if !json.Valid(line) || !utf8.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 {
				t.Fatalf("not one line of JSON: %.200q", line)
			}
			if strings.Contains(name, "html") && !bytes.Contains(line, []byte(`<a href=`)) {
				t.Errorf("escaped more than JSON demands: %s", line)
			}
			got, err := decodeLine(line)
			check(t, err)
			if !reflect.DeepEqual(got.Event, e) || got.prev != 0x51b20e44 || got.dur != 14 {
				t.Errorf("got %+v", got)
			}
			if want := fmt.Sprintf(`{"crc":"%s","prev":"51b20e44","dur":14,"seq":17,"epoch":2,"time":"2026-01-01T00:00:00.123456789Z","scope":"","type":"user/message","data":{`, crcText(got.crc)); !strings.HasPrefix(string(line), want) {
				t.Errorf("the line begins %.200s\nwant %s", line, want)
			}
		})
	}
}

func TestLineIsValidUTF8WhateverItHolds(t *testing.T) {
	for _, text := range []string{"\xff\xfe", "a\xc3", "\xed\xa0\x80 lone surrogate", "ok\xf0\x9f\x98"} {
		line := encode(t, record{Event: event(1, &session.UserMessage{Text: text})})
		got, err := decodeLine(line)
		check(t, err)
		said := got.Data.(*session.UserMessage).Text
		if !utf8.Valid(line) || said != strings.ToValidUTF8(text, "\ufffd") && !strings.Contains(said, "\ufffd") {
			t.Errorf("%q became %q", text, said)
		}
	}
}

func TestLineKeepsVendorDataAsItIs(t *testing.T) {
	opaque := json.RawMessage(`{"signature":"a\u003cb/+==","n":12345678901234567890,"x":1.0}`)
	e := event(3, &session.AssistantMessage{Parts: []message.Part{{Type: message.TypeReasoning, Text: "hm", Opaque: opaque}}})
	got, err := decodeLine(encode(t, record{Event: e}))
	check(t, err)
	if o := got.Data.(*session.AssistantMessage).Parts[0].Opaque; string(o) != string(opaque) {
		t.Errorf("opaque data became %s", o)
	}
}

func TestEveryFlippedBitOfALineIsDetected(t *testing.T) {
	line := encode(t, record{Event: event(17, &session.UserMessage{Text: "读 <b> abcdef"}), prev: 0xabcdef01, dur: 14})
	for i := range line {
		for bit := range 8 {
			bad := bytes.Clone(line)
			bad[i] ^= 1 << bit
			if _, err := decodeLine(bad); err == nil {
				t.Fatalf("bit %d of byte %d (%q) flipped and not seen", bit, i, line[i])
			}
		}
		zeroed := bytes.Clone(line)
		zeroed[i] = 0
		cut := append(bytes.Clone(line[:i]), line[i+1:]...)
		for what, bad := range map[string][]byte{"short": line[:i], "zero": zeroed, "cut": cut} {
			if _, err := decodeLine(bad); err == nil {
				t.Fatalf("%s at byte %d not seen", what, i)
			}
		}
	}
}

// A line with a right checksum that makes no sense was written so: it is no
// torn line.
func TestSenselessLineIsNotTorn(t *testing.T) {
	for _, body := range []string{
		`"prev":"00000000","dur":0,"seq":"x"}`, `"prev":"0000000g","dur":0,"seq":1,"type":"user/message","data":{}}`,
		`"prev":"00000000","dur":0,"seq":1,"type":"user/message","data":[]}`, `"prev":"00000000"`, `]`,
		`"prev":"00000000","dur":0,"seq":1,"type":"tool/result","data":{"call":"no"}}`,
	} {
		_, err := decodeLine(sealed([]byte(body)))
		if err == nil || err == errTornLine || err == errChecksum {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A line that no reader takes would be a session that is damaged as soon as it
// is written: nothing is appended, and what there is stays sound.
func TestWhatCouldNotBeReadAgainIsNotWritten(t *testing.T) {
	buf := bytes.NewBufferString("what was there")
	many := strings.Split(strings.Repeat("a,", 1<<17), ",")
	_, err := appendLine(buf, record{Event: event(1, &session.GraphSet{Nodes: []session.GraphNode{{ID: "b", Needs: many}}})})
	if err == nil || !strings.Contains(err.Error(), "too many items") {
		t.Errorf("a list of %d items: %v", len(many), err)
	}
	if buf.String() != "what was there" {
		t.Errorf("%d bytes were left", buf.Len())
	}
	encode(t, record{Event: event(1, &session.GraphSet{Nodes: []session.GraphNode{{ID: "b", Needs: many[:1<<16-1]}}})})
}

// sealed makes a line with a right checksum of any body.
func sealed(body []byte) []byte {
	return fmt.Appendf(nil, "%s%s\",%s\n", crcOpen, crcText(checksum(body)), body)
}

func FuzzDecodeLine(f *testing.F) {
	var buf bytes.Buffer
	for _, d := range []session.Data{
		&task, &session.Opened{Attempt: 1, PID: 1}, &session.TurnEnd{Turn: 1, Status: session.Interrupted, RetryAt: time.Unix(1, 0)},
		&session.ToolResult{Call: session.CallID{Reply: 3}, Text: "<读\x00>"},
		session.Unknown{Kind: "new/kind", Raw: json.RawMessage(`{"a":[1]}`)},
		&session.AssistantMessage{Parts: []message.Part{message.Call(message.ToolCall{Name: "x", Arguments: "{}"})}},
	} {
		buf.Reset()
		if _, err := appendLine(&buf, record{Event: event(1, d)}); err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(buf.Bytes()))
		f.Add(bytes.Clone(buf.Bytes()[crcLen : buf.Len()-1]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeLine(b)
		first, err := decodeLine(sealed(b))
		if err != nil {
			return
		}
		// What can be read can be written, and then stays as it is.
		line := encode(t, first)
		second, err := decodeLine(line)
		check(t, err)
		if again := encode(t, second); !bytes.Equal(again, line) {
			t.Errorf("written %q\n   then %q", line, again)
		}
	})
}
