package anthropic

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

const (
	start = `{"type":"message_start","message":{"model":"m","content":[],"usage":{"input_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
)

func blockStart(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func blockDelta(index, delta string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`
}

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":` + reason + `}}`
}

func part(kind message.PartType, text, opaque string) message.Part {
	p := message.Part{Type: kind, Text: text}
	if opaque != "" {
		p.Opaque = []byte(opaque)
	}
	return p
}

// Blocks of all kinds, as servers send them, and what they are for us.
func TestBlocksBecomePartsInTheirOrder(t *testing.T) {
	for name, c := range map[string]struct {
		data []string
		want []message.Part
	}{
		"thinking between texts": {
			[]string{
				blockStart("0", `{"type":"text","text":"a"}`), blockStart("1", `{"type":"thinking","thinking":"hm","signature":""}`),
				blockDelta("1", `{"type":"signature_delta","signature":"s1"}`), blockDelta("1", `{"type":"signature_delta","signature":"s2"}`),
				blockStart("2", `{"type":"redacted_thinking","data":"d<"}`), blockStart("3", `{"type":"text","text":""}`), blockDelta("3", `{"type":"text_delta","text":"b"}`),
			},
			[]message.Part{
				message.Text("a"), part(message.TypeReasoning, "hm", `{"type":"thinking","signature":"s1s2"}`),
				part(message.TypeReasoning, "", `{"type":"redacted_thinking","data":"d<"}`), message.Text("b"),
			},
		},
		"thinking that is not shown": {
			[]string{blockStart("0", `{"type":"thinking","thinking":"","signature":""}`), blockDelta("0", `{"type":"signature_delta","signature":"s"}`)},
			[]message.Part{part(message.TypeReasoning, "", `{"type":"thinking","signature":"s"}`)},
		},
		"a signature that comes twice": {
			[]string{blockStart("0", `{"type":"thinking","thinking":"x","signature":"s"}`), blockDelta("0", `{"type":"signature_delta","signature":"s"}`)},
			[]message.Part{part(message.TypeReasoning, "x", `{"type":"thinking","signature":"s"}`)},
		},
		"thinking of nothing": {[]string{blockStart("0", `{"type":"thinking"}`), blockStart("1", `{"type":"text"}`)}, nil},
		"tools of the service": {
			[]string{
				blockStart("0", `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`),
				blockDelta("0", `{"type":"input_json_delta","partial_json":"{\"q\":"}`), blockDelta("0", `{"type":"input_json_delta","partial_json":"\"<x>\"}"}`),
				blockStart("1", `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"encrypted_content":"e"}]}`),
				blockStart("2", `{"type":"text","text":"c"}`), blockDelta("2", `{"type":"citations_delta","citation":{"encrypted_index":"i"}}`),
			},
			[]message.Part{
				part(message.TypeReasoning, "", `{"id":"s","input":{"q":"<x>"},"name":"web_search","type":"server_tool_use"}`),
				part(message.TypeReasoning, "", `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"encrypted_content":"e"}]}`),
				part(message.TypeText, "c", `{"citations":[{"encrypted_index":"i"}]}`),
			},
		},
		"compaction": {
			[]string{blockStart("0", `{"type":"compaction","content":null}`), blockDelta("0", `{"type":"compaction_delta","content":"sum"}`)},
			[]message.Part{part(message.TypeReasoning, "", `{"content":"sum","type":"compaction"}`)},
		},
		"kinds and deltas that nobody knows": {
			[]string{
				blockStart("0", `{"type":"hologram","light":1}`), blockDelta("0", `{"type":"light_delta","light":2}`), blockDelta("0", `null`),
				`{"type":"content_block_start","index":1}`, blockDelta("7", `{"type":"signature_delta","signature":"s"}`),
			},
			[]message.Part{part(message.TypeReasoning, "", `{"type":"hologram","light":1}`)},
		},
		"no index": {
			[]string{
				`{"type":"content_block_start","content_block":{"type":"text","text":"a"}}`, blockDelta("null", `{"type":"text_delta","text":"b"}`),
				`{"type":"content_block_stop"}`,
			},
			[]message.Part{message.Text("ab")},
		},
		"an index twice": {
			[]string{blockStart("0", `{"type":"text","text":"a"}`), blockStart("0", `{"type":"text","text":"b"}`), blockDelta("0", `{"type":"text_delta","text":"c"}`)},
			[]message.Part{message.Text("a"), message.Text("bc")},
		},
		"no beginning": {
			[]string{blockDelta("0", `{"type":"thinking_delta","thinking":"a"}`), blockDelta("1", `{"type":"text_delta","text":"b"}`)},
			[]message.Part{part(message.TypeReasoning, "a", `{"type":"thinking"}`), message.Text("b")},
		},
		"texts in turns": { // what was emitted first stands first
			[]string{blockDelta("0", `{"type":"text_delta","text":"a"}`), blockDelta("1", `{"type":"text_delta","text":"b"}`), blockDelta("0", `{"type":"text_delta","text":"c"}`)},
			[]message.Part{message.Text("a"), message.Text("b"), message.Text("c")},
		},
	} {
		reply, err := answered(t, append(append([]string{start}, c.data...), ended(`"end_turn"`), stop)...)
		if err != nil || !reflect.DeepEqual(reply.Parts, c.want) || reply.Stop != message.StopEnd {
			t.Errorf("%s: %s %s, %v\nwant %s", name, reply.Stop, show(reply.Parts), err, show(c.want))
		}
	}
}

func show(parts []message.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("\n\t" + string(p.Type) + " " + p.Text + " " + string(p.Opaque))
	}
	return b.String()
}

// F054: wherever the input is, and whatever it is.
func TestInputIsWhatTheModelWrote(t *testing.T) {
	for begin, want := range map[string]string{
		`{"type":"tool_use","id":"t","name":"f"}`:                            `{}`,
		`{"type":"tool_use","id":"t","name":"f","input":null}`:               `{}`,
		`{"type":"tool_use","id":"t","name":"f","input":{"n": 1.10}}`:        `{"n": 1.10}`,
		`{"type":"tool_use","id":"t","name":"f","input":[1]}`:                `[1]`,
		`{"type":"tool_use","id":"t","name":"f","input":"{\"path\":\"a\"}"}`: `"{\"path\":\"a\"}"`,
	} {
		for _, deltas := range [][]string{nil, {blockDelta("0", `{"type":"input_json_delta","partial_json":""}`)}, {blockDelta("0", `{"type":"input_json_delta"}`)}} {
			data := append([]string{start, blockStart("0", begin)}, deltas...)
			reply, err := answered(t, append(data, ended(`"tool_use"`), stop)...)
			calls := message.Message{Parts: reply.Parts}.Calls()
			if err != nil || len(calls) != 1 || calls[0] != (message.ToolCall{ID: "t", Name: "f", Arguments: want}) {
				t.Errorf("%s: %v, %v; want %s", begin, calls, err, want)
			}
		}
	}
	reply, err := answered(t, start, blockStart("0", `{"type":"tool_use","name":"f","input":{"old":1},"caller":{"type":"direct"}}`),
		blockStart("1", `{"type":"tool_use","name":"g","caller":{"type":"code","tool_id":"s"}}`),
		blockDelta("0", `{"type":"input_json_delta","partial_json":"{\"new\":2}"}`), ended(`"end_turn"`), stop)
	want := []message.Part{providertest.CallPart("", "f", `{"new":2}`, ""), providertest.CallPart("", "g", `{}`, `{"caller":{"type":"code","tool_id":"s"}}`)}
	want[0].Opaque = nil
	if err != nil || !reflect.DeepEqual(reply.Parts, want) || reply.Stop != message.StopCalls {
		t.Errorf("%s %s, %v", reply.Stop, show(reply.Parts), err)
	}
}

func TestStopReasonsAreMapped(t *testing.T) {
	for reason, want := range map[string]message.StopReason{
		`"end_turn"`: message.StopEnd, `"stop_sequence"`: message.StopEnd, `null`: message.StopEnd,
		`"max_tokens"`: message.StopLength, `"pause_turn"`: message.StopLength,
		`"refusal"`: message.StopRefusal, `"content_filter"`: message.StopFilter,
		`"compaction"`: "", `"tomorrow"`: "",
	} {
		text := blockStart("0", `{"type":"text","text":"x"}`)
		reply, err := answered(t, start, text, ended(reason), stop)
		if want == "" {
			if e, ok := err.(*provider.Error); !ok || e.Kind != provider.Server || !strings.Contains(e.Message, reason[1:len(reason)-1]) {
				t.Errorf("%s: %v, %v", reason, reply, err)
			}
			continue
		}
		if err != nil || reply.Stop != want {
			t.Errorf("%s: %s, %v; want %s", reason, reply.Stop, err, want)
		}
	}
}

// The service's words stand for those of the model where it had none.
func TestARefusalIsExplained(t *testing.T) {
	refused := `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"It is against the rules."}}}`
	for _, c := range []struct {
		begin string
		want  string
	}{
		{`{"type":"ping"}`, "It is against the rules."},
		{blockStart("0", `{"type":"text","text":"I begin"}`), "I begin"},
	} {
		reply, err := answered(t, start, c.begin, refused, stop)
		if err != nil || reply.Stop != message.StopRefusal || (message.Message{Parts: reply.Parts}).Text() != c.want {
			t.Errorf("%v, %v", reply, err)
		}
	}
}

// Streams that are no answer, and the kinds of their errors.
func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	text := blockStart("0", `{"type":"text","text":"four"}`)
	for name, c := range map[string]struct {
		data []string
		kind provider.Kind
		says string
	}{
		"no message_stop":       {[]string{start, text, ended(`"end_turn"`)}, provider.Network, "4 bytes of text"},
		"only a stop":           {[]string{stop}, provider.Server, "empty"},
		"an error without type": {[]string{start, text, `{"error":{"type":"api_error","message":"m1"}}`}, provider.Server, "m1"},
		"an error after it all": {[]string{start, text, ended(`"end_turn"`), `{"type":"error","error":{"type":"overloaded_error","message":"m1"}}`, stop}, provider.Overloaded, "m1"},
		"too many":              {[]string{`{"type":"error","error":{"type":"rate_limit_error","message":"m1"}}`}, provider.RateLimit, "m1"},
		"bad key":               {[]string{`{"type":"error","error":{"type":"authentication_error","message":"m1"}}`}, provider.Auth, "m1"},
		"may not":               {[]string{`{"type":"error","error":{"type":"permission_error","message":"m1"}}`}, provider.Permission, "m1"},
		"no model":              {[]string{`{"type":"error","error":{"type":"not_found_error","message":"m1"}}`}, provider.NotFound, "m1"},
		"no money":              {[]string{`{"type":"error","error":{"type":"billing_error","message":"m1"}}`}, provider.Quota, "m1"},
		"too slow":              {[]string{`{"type":"error","error":{"type":"timeout_error","message":"m1"}}`}, provider.Timeout, "m1"},
		"refused":               {[]string{`{"type":"error","error":{"type":"invalid_request_error","message":"m1"}}`}, provider.InvalidRequest, "m1"},
		"too long":              {[]string{`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}`}, provider.ContextLength, "too long"},
		"Google's":              {[]string{`[{"error":{"code":503,"message":"m1","status":"UNAVAILABLE"}}]`}, provider.Overloaded, "m1"},
		"no JSON":               {[]string{start, "{oops}", stop}, provider.Server, "not of the expected form"},
		"a block that is none":  {[]string{start, blockStart("0", `"text"`), stop}, provider.Server, "not of the expected form"},
		"a delta that is none":  {[]string{start, text, blockDelta("0", `[]`), stop}, provider.Server, "not of the expected form"},
	} {
		reply, err := answered(t, c.data...)
		e, ok := err.(*provider.Error)
		if !ok || e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v, %v; want %s, %q", name, reply, err, c.kind, c.says)
		}
	}
	for body, says := range map[string]string{
		`{"type":"message"}`: "no message",
		`{"status":"ok"}`:    "no message",
		`{"content":[{"type":"text","text":"x"}],"stop_reas`:   "ended before its end",
		`{"content":"x","stop_reason":"end_turn"}`:             "not of the expected form",
		`{"content":[{"type":"text"}]}{"content":[]}`:          "not of the expected form",
		`{"content":["x"],"stop_reason":"end_turn"}`:           "not of the expected form",
		`{"type":"error","error":{"message":"no such thing"}}`: "no such thing",
	} {
		_, err := open(t, Options{HTTPClient: providertest.Canned(http.StatusOK, nil, strings.NewReader(body))}).Stream(t.Context(), hello(), func(provider.Event) {})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Some gateways end without blank lines, or name the type in the event alone.
func TestOddFramesAreUnderstood(t *testing.T) {
	for name, body := range map[string]string{
		"types in the names": "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n" +
			"event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {}\n\n",
		"whole": `{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`,
		"all in the start": `data: {"type":"message_start","message":{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}}` +
			"\n\ndata: " + stop + "\n\n",
		"one event": "data: " + blockDelta("0", `{"type":"text_delta","text":"hi"}`) + "\ndata: " + stop + "\n",
	} {
		reply, err := open(t, Options{HTTPClient: providertest.Canned(http.StatusOK, nil, strings.NewReader(body))}).Stream(t.Context(), hello(), func(provider.Event) {})
		if err != nil || !reflect.DeepEqual(reply.Parts, []message.Part{message.Text("hi")}) || reply.Stop != message.StopEnd {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
	}
}
