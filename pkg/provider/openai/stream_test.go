package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// sseOf makes a stream of the deltas of choice 0, a finish reason and [DONE].
func sseOf(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + d + `}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":` + finish + `}]}` + "\n\n")
	return b.String() + "data: [DONE]\n\n"
}

func toolCalls(list string) string { return `{"tool_calls":[` + list + `]}` }

const hi = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n"

// Bytes that all mean the same: the text "hi", complete.
func TestTextIsReadHoweverItIsFramed(t *testing.T) {
	for name, body := range map[string]string{
		"plain":                  hi + "data: [DONE]\n\n",
		"no [DONE]":              hi, // F068
		"no final blank line":    strings.TrimSpace(hi),
		"no space":               strings.ReplaceAll(hi, "data: ", "data:"), // F061
		"CRLF":                   strings.ReplaceAll(hi, "\n", "\r\n"),
		"CR":                     strings.ReplaceAll(hi, "\n", "\r"),
		"byte order mark":        "\ufeff" + hi,
		"blank lines first":      "\n\r\n  " + hi,
		"comments":               ": keep-alive\n\n" + hi + ": bye\n\n",
		"several data lines":     "data: {\"choices\":[\ndata:   {\"index\":0,\"delta\":{\"content\":\"hi\"},\ndata: \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", // F064
		"no blank lines":         "data: {\"choices\":[{\"delta\":{\"content\":\"h\"}}]}\n" + strings.Replace(hi, "hi", "i", 1)[:len(hi)-2] + "data: [DONE]\n",
		"blank events":           "data:\n\nevent: ping\ndata:\n\n" + hi,
		"other values":           "data: null\n\ndata: \"ping\"\n\ndata: 1\n\ndata: []\n\ndata: {}\n\n" + hi,
		"Azure's first chunk":    "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\ndata: {\"choices\":[{\"index\":0}]}\n\n" + hi,
		"null everywhere":        `data: {"choices":[{"index":null,"delta":{"content":null,"refusal":null,"tool_calls":null,"function_call":null,"reasoning_details":null},"finish_reason":null}],"usage":null,"error":null,"x_groq":null}` + "\n\n" + hi,
		"another choice":         `data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"}]}` + "\n\n" + hi,
		"odd types":              strings.Replace(hi, `{"choices`, `{"id":7,"model":null,"created":"now","system_fingerprint":{},"choices`, 1),
		"content as list":        strings.Replace(hi, `"hi"`, `["h",{"type":"text","text":"i"},{"type":"image"}]`, 1),
		"content as part":        strings.Replace(hi, `"hi"`, `{"type":"text","text":"hi"}`, 1),
		"message for delta":      strings.Replace(hi, "delta", "message", 1),
		"empty error":            strings.Replace(hi, `{"choices`, `{"error":{},"choices`, 1),
		"finish reason null":     sseOf("null", `{"content":"hi"}`),
		"whole":                  `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`,
		"whole after keep-alive": " \n\n \ufeff"[:4] + `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":null}]}` + "\n",
		"after the end":          hi + "data: [DONE]\n\ndata: {\"error\":\"late\"}\n\n",
	} {
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
			reply, err := decodeAll(t, 200, nil, r)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			want := []message.Part{message.Text("hi")}
			if !reflect.DeepEqual(reply.Parts, want) || reply.Stop != message.StopEnd {
				t.Errorf("%s: %v, stop %s", name, reply.Parts, reply.Stop)
			}
		}
	}
}

// Streams that are no answer, and the kinds of their errors.
func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	const half = "data: {\"choices\":[{\"delta\":{\"content\":\"The answer is 4\"}}]}\n\n"
	const done = "data: [DONE]\n\n"
	for name, c := range map[string]struct {
		body string
		kind provider.Kind
		says string
	}{
		"no end":                {half, provider.Network, "15 bytes of text"}, // F067
		"text after the end":    {strings.Replace(hi, "hi", "", 1) + hi[:strings.Index(hi, `,"finish`)] + "}]}\n\n", provider.Network, "ended before its end"},
		"half a call":           {"data: {\"choices\":[{\"delta\":" + toolCalls(`{"index":0,"id":"a","function":{"name":"rm","arguments":"{"}}`) + "}]}\n\n", provider.Network, "1 tool calls"},
		"nothing":               {"", provider.Network, "ended before its end"},
		"blanks":                {" \n\n", provider.Network, "ended before its end"},
		"a comment":             {": hi\n\n", provider.Network, "ended before its end"},
		"only [DONE]":           {done, provider.Server, "empty"},
		"error object":          {`data: {"error":{"message":"credit used up","code":429}}` + "\n\n" + done, provider.RateLimit, "credit used up"}, // F070
		"error text":            {`data: {"error":"credit used up"}` + "\n\n" + done, provider.Server, "credit used up"},
		"error beside choices":  {`data: {"choices":[],"error":{"message":"m1","code":"502"}}` + "\n\n", provider.Server, "m1"},
		"error in a choice":     {`data: {"choices":[{"index":0,"delta":{},"error":{"message":"m1","code":503},"finish_reason":"error"}]}` + "\n\n", provider.Overloaded, "m1"},
		"error after content":   {half + `data: {"error":{"message":"m1","type":"overloaded_error"}}` + "\n\n", provider.Overloaded, "m1"},
		"error after the end":   {hi + `data: {"error":{"message":"m1"}}` + "\n\n", provider.Server, "m1"},
		"error event":           {"event: error\ndata: {\"message\":\"m1\",\"type\":\"invalid_request_error\"}\n\n", provider.InvalidRequest, "m1"},
		"error event, no JSON":  {"event: error\ndata: upstream died\n\n", provider.Server, "upstream died"},
		"whole error":           {`{"error":{"message":"credit used up","code":402}}`, provider.Quota, "credit used up"},
		"error in a list":       {`[{"error":{"code":503,"message":"m1","status":"UNAVAILABLE"}}]`, provider.Overloaded, "m1"},
		"finish reason error":   {sseOf(`"error"`, `{"content":"x"}`), provider.Server, `"error"`},
		"unknown finish reason": {sseOf(`"aborted"`, toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)), provider.Server, `"aborted"`},
		"busy":                  {sseOf(`"insufficient_system_resource"`), provider.Overloaded, "insufficient"},
		"no JSON":               {half + "data: {oops}\n\n" + hi, provider.Server, "not of the expected form"},
		"no JSON, then [DONE]":  {half + "data: {oops\n\n" + done, provider.Server, "not of the expected form"},
		"calls that are none":   {sseOf(`"stop"`, `{"tool_calls":{"a":1}}`), provider.Server, "not of the expected form"},
		"half of a whole":       {`{"choices":[{"message":{"content":"hi"},"finish_reas`, provider.Network, "ended before its end"},
		"not a completion":      {`{"status":"ok"}`, provider.Server, "no completion"},
		"two values":            {`{"choices":[]}{"choices":[]}`, provider.Server, "not of the expected form"},
		"a web page":            {"\n<!DOCTYPE html><html><head><title>Log in</title>", provider.Server, "HTML page (Log in)"}, // F077
	} {
		_, err := decodeAll(t, 200, nil, strings.NewReader(c.body))
		e := failed(t, err)
		if e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v; want %s, %q", name, e, c.kind, c.says)
		}
	}
}

// Fragments of calls, as servers send them, and what was meant.
func TestCallsArePutTogether(t *testing.T) {
	one := []message.ToolCall{{ID: "a", Name: "read", Arguments: `{"path":"1"}`}}
	two := append(one[:1:1], message.ToolCall{ID: "b", Name: "read", Arguments: `{"path":"2"}`})
	const a, b = `"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"1\"}"}`, `"id":"b","type":"function","function":{"name":"read","arguments":"{\"path\":\"2\"}"}`
	anonymous := func(s string) string { return s[strings.Index(s, `"type"`):] }
	nameless := func(calls []message.ToolCall) []message.ToolCall {
		var list []message.ToolCall
		for _, c := range calls {
			list = append(list, message.ToolCall{Name: c.Name, Arguments: c.Arguments})
		}
		return list
	}
	for name, c := range map[string]struct {
		deltas []string
		want   []message.ToolCall
	}{
		"in fragments":               {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), toolCalls(`{"index":0,"function":{"arguments":"{\"path\":"}}`), toolCalls(`{"index":0,"function":{"arguments":"\"1\"}"}}`)}, one},
		"one chunk":                  {[]string{toolCalls(`{"index":0,` + a + `},{"index":1,` + b + `}`)}, two},
		"no index, one chunk":        {[]string{toolCalls(`{` + a + `},{` + b + `}`)}, two}, // F049
		"no index, chunk by chunk":   {[]string{toolCalls(`{` + a + `}`), toolCalls(`{` + b + `}`)}, two},
		"null index":                 {[]string{toolCalls(`{"index":null,` + a + `}`), toolCalls(`{"index":null,` + b + `}`)}, two},
		"no index, in fragments":     {[]string{toolCalls(`{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"function":{"arguments":"\"1\"}"}}`), toolCalls(`{` + b + `}`)}, two},
		"no index, id repeated":      {[]string{toolCalls(`{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"id":"a","function":{"arguments":"\"1\"}"}}`)}, one},
		"no index, interleaved":      {[]string{toolCalls(`{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"id":"b","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"id":"a","function":{"arguments":"\"1\"}"}}`), toolCalls(`{"id":"b","function":{"arguments":"\"2\"}"}}`)}, two},
		"index used again":           {[]string{toolCalls(`{"index":0,` + a + `}`), toolCalls(`{"index":0,` + b + `}`)}, two}, // F050
		"told once more":             {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), toolCalls(`{"index":0,"function":{"arguments":"{\"path\":\"1\"}"}}`), toolCalls(`{"index":0,` + a + `}`)}, one},
		"all told once more":         {[]string{toolCalls(`{"index":0,` + a + `},{"index":1,` + b + `}`), toolCalls(`{"index":0,` + a + `},{"index":1,` + b + `}`)}, two},
		"all once more, one index":   {[]string{toolCalls(`{"index":0,` + a + `}`), toolCalls(`{"index":0,` + b + `}`), toolCalls(`{"index":0,` + a + `},{"index":0,` + b + `}`)}, two},
		"once more, no index":        {[]string{toolCalls(`{` + a + `}`), toolCalls(`{` + a + `}`)}, one},
		"once more, other spaces":    {[]string{toolCalls(`{"index":0,` + a + `}`), toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{ \"path\": \"1\" }"}}`)}, one},
		"once more, an object":       {[]string{toolCalls(`{"index":0,` + a + `}`), toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"1"}}}`)}, one},
		"once more, without a name":  {[]string{toolCalls(`{"index":0,` + a + `}`), toolCalls(`{"index":0,"id":"a","function":{"arguments":"{\"path\":\"1\"}"}}`)}, one},
		"alike, two indices":         {[]string{toolCalls(`{"index":0,` + a + `},{"index":1,` + a + `}`)}, []message.ToolCall{one[0], one[0]}},
		"alike, no id":               {[]string{toolCalls(`{"index":0,` + anonymous(a) + `}`), toolCalls(`{"index":0,` + anonymous(a) + `}`)}, nameless([]message.ToolCall{one[0], one[0]})},
		"formerly, then as today":    {[]string{`{"function_call":{"name":"read","arguments":"{\"path\":"}}`, `{"function_call":{"arguments":"\"1\"}"}}`, toolCalls(`{"index":0,` + a + `}`)}, one},
		"today, then as formerly":    {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"index":0,"function":{"arguments":"\"1\"}"}}`), `{"function_call":{"name":"read","arguments":"{\"path\":\"1\"}"}}`}, one},
		"formerly, and another":      {[]string{`{"function_call":{"name":"read","arguments":"{\"path\":\"1\"}"}}`, toolCalls(`{"index":0,` + b + `}`)}, []message.ToolCall{{Name: "read", Arguments: one[0].Arguments}, two[1]}},
		"index 0.0":                  {[]string{toolCalls(`{"index":0.0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"index":0,"function":{"arguments":"\"1\"}"}}`)}, one},
		"index far off":              {[]string{toolCalls(`{"index":2000000000,` + a + `}`), toolCalls(`{"index":-1,` + b + `}`)}, two}, // F051
		"index as text":              {[]string{toolCalls(`{"index":"7","id":"a","function":{"name":"read"}}`), toolCalls(`{"index":7,"function":{"arguments":"{\"path\":\"1\"}"}}`)}, one},
		"interleaved, null start":    {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":null}}`), toolCalls(`{"index":1,"id":"b","function":{"name":"read","arguments":""}}`), toolCalls(`{"index":0,"function":{"arguments":"{\"path\":"}}`), toolCalls(`{"index":1,"function":{"arguments":"{\"path\":"}}`), toolCalls(`{"index":0,"function":{"arguments":"\"1\"}"}}`), toolCalls(`{"index":1,"function":{"arguments":"\"2\"}"}}`)}, two}, // F053
		"arguments as object":        {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"1"}}}`)}, one},                                                                                                                                                                                                                                                                                                                              // F055
		"name last":                  {[]string{toolCalls(`{"index":0,"id":"a","function":{"arguments":"{\"path\":\"1\"}"}}`), toolCalls(`{"index":0,"function":{"name":"read"}}`)}, one},
		"name repeated":              {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), toolCalls(`{"index":0,"id":"a","function":{"name":"read","arguments":"\"1\"}"}}`), toolCalls(`{"index":0,"function":{"name":"read","arguments":""}}`)}, one},
		"id late":                    {[]string{toolCalls(`{"index":0,"function":{"name":"read"}}`), toolCalls(`{"index":0,"id":"a","function":{"arguments":"{\"path\":\"1\"}"}}`)}, one},
		"same id twice":              {[]string{toolCalls(`{"index":0,` + a + `},{"index":1,` + strings.Replace(b, `"b"`, `"a"`, 1) + `}`)}, []message.ToolCall{two[0], {ID: "a", Name: "read", Arguments: two[1].Arguments}}}, // F029
		"same id, no index":          {[]string{toolCalls(`{` + a + `},{` + strings.Replace(b, `"b"`, `"a"`, 1) + `}`)}, []message.ToolCall{two[0], {ID: "a", Name: "read", Arguments: two[1].Arguments}}},
		"no id":                      {[]string{toolCalls(`{"index":0,` + anonymous(a) + `},{"index":1,` + anonymous(b) + `}`)}, nameless(two)},
		"no id, index used again":    {[]string{toolCalls(`{"index":0,` + anonymous(a) + `}`), toolCalls(`{"index":0,` + anonymous(b) + `}`)}, nameless(two)},
		"neither id nor index":       {[]string{toolCalls(`{` + anonymous(a) + `}`), toolCalls(`{` + anonymous(b) + `}`)}, nameless(two)},
		"neither, without arguments": {[]string{toolCalls(`{"function":{"name":"pwd","arguments":""}},{"function":{"name":"pwd"}}`)}, []message.ToolCall{{Name: "pwd", Arguments: "{}"}, {Name: "pwd", Arguments: "{}"}}},
		"number as id":               {[]string{toolCalls(`{"index":0,"id":5,"function":{"name":"read","arguments":"{}"}}`)}, []message.ToolCall{{ID: "5", Name: "read", Arguments: "{}"}}},
		"empty fragment":             {[]string{toolCalls(`{"index":0}`), toolCalls(`{"index":1,` + a + `}`), toolCalls(``)}, one},
		"the former way":             {[]string{`{"function_call":{"name":"read","arguments":"{\"path\":"}}`, `{"function_call":{"arguments":"\"1\"}"}}`}, nameless(one)},
	} {
		for _, finish := range []string{`"tool_calls"`, `"stop"`, `"end_turn"`, `""`, `null`} { // F058
			reply, err := decodeAll(t, 200, nil, strings.NewReader(sseOf(finish, c.deltas...)))
			if err != nil || !reflect.DeepEqual(callsOf(reply), c.want) || reply.Stop != message.StopCalls {
				t.Errorf("%s, %s: %v, stop %q, %v", name, finish, callsOf(reply), reply.Stop, err)
			}
		}
	}
}

// F054, F060: no arguments are none; broken ones stay broken.
func TestArgumentsAreWhatTheModelWrote(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "{}", `null`: "{}", `"  "`: "{}", `"null"`: "{}", `"{}"`: "{}", `{}`: "{}",
		`"{\"a\": 1, }"`:                       `{"a": 1, }`,
		`"[1]"`:                                `[1]`,
		`[1]`:                                  `[1]`,
		`"{\"path\":\"out\",\"content\":\"l1"`: `{"path":"out","content":"l1`,
		`"{\"n\":9223372036854775807}"`:        `{"n":9223372036854775807}`,
		`"{\"t\":\"abc\\ud83d\"}"`:             `{"t":"abc\ud83d"}`,
		`"{\"t\":\"abc\ud83d\"}"`:              "{\"t\":\"abc\uFFFD\"}",
	} {
		body := sseOf(`"length"`, toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":`+raw+`}}`))
		reply, err := decodeAll(t, 200, nil, strings.NewReader(body))
		if err != nil || len(callsOf(reply)) != 1 || callsOf(reply)[0].Arguments != want || reply.Stop != message.StopLength {
			t.Errorf("%s: %v, stop %q, %v; want %s", raw, callsOf(reply), reply.Stop, err, want)
		}
	}
}

func TestFinishReasonsAreMapped(t *testing.T) {
	for finish, want := range map[string]message.StopReason{
		"stop": message.StopEnd, "eos": message.StopEnd, "STOP": message.StopEnd,
		"length": message.StopLength, "MAX_TOKENS": message.StopLength,
		"content_filter": message.StopFilter, "SAFETY": message.StopFilter, "refusal": message.StopRefusal,
	} {
		reply, err := decodeAll(t, 200, nil, strings.NewReader(sseOf(`"`+finish+`"`)))
		if err != nil || reply.Stop != want || len(reply.Parts) != 0 {
			t.Errorf("%s: %v, %v, want %s", finish, reply, err, want)
		}
	}
	reply, err := decodeAll(t, 200, nil, strings.NewReader(sseOf(`"stop"`, `{"refusal":"I"}`, `{"refusal":" won't"}`)))
	if err != nil || reply.Stop != message.StopRefusal || textOf(reply) != "I won't" {
		t.Errorf("refusal: %v, %v", reply, err)
	}
}

func TestUsageIsTakenFromWhereverItIs(t *testing.T) {
	const u = `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}`
	want := message.Usage{Input: 10, Output: 5, CacheRead: 4, Reasoning: 2, Total: 15}
	end := strings.TrimSuffix(hi, "}\n\n")
	for name, body := range map[string]string{
		"own chunk":         hi + `data: {"choices":[],"usage":` + u + "}\n\ndata: [DONE]\n\n",
		"last chunk":        end + `,"usage":` + u + "}\n\n",
		"each chunk":        `data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n" + hi + `data: {"usage":` + u + "}\n\n" + `data: {"choices":[],"usage":null}` + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":0}}` + "\n\n",
		"Groq":              end + `,"x_groq":{"usage":` + u + "}}\n\n",
		"choice":            strings.Replace(hi, `"index"`, `"usage":`+u+`,"index"`, 1),
		"whole":             `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":` + u + "}",
		"DeepSeek's cache":  hi + `data: {"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_cache_hit_tokens":4,"completion_tokens_details":{"reasoning_tokens":2}}}` + "\n\n",
		"reasoning beside":  hi + `data: {"usage":` + strings.Replace(u, `"completion_tokens":5`, `"completion_tokens":3`, 1) + "}\n\n",
		"texts, fractions":  hi + `data: {"usage":` + strings.NewReplacer(`:10`, `:"10"`, `:15`, `:15.0`).Replace(u) + "}\n\n",
		"no total":          hi + `data: {"usage":` + strings.Replace(u, `"total_tokens":15`, `"total_tokens":null`, 1) + "}\n\n",
		"details are null?": hi + `data: {"usage":` + u + "}\n\n" + `data: {"usage":{"prompt_tokens":-1,"prompt_tokens_details":null}}` + "\n\n",
	} {
		reply, err := decodeAll(t, 200, nil, strings.NewReader(body))
		if err != nil || reply.Usage != want {
			t.Errorf("%s: %+v, %v", name, reply.Usage, err)
		}
	}
}

// Where JSON was asked for some send it as an object, not as its text.
func TestAnObjectInPlaceOfAnAnswerIsTheAnswer(t *testing.T) {
	reply, err := decodeAll(t, 200, nil, strings.NewReader(`{"choices":[{"message":{"content": {"name": "Émily \"<E>\"", "age": 32}},"finish_reason":"stop"}]}`))
	if want := `{"name":"Émily \"<E>\"","age":32}`; err != nil || textOf(reply) != want {
		t.Errorf("%v, %v; want %s", reply, err, want)
	}
}

// F021, F066: half characters wait for their other half, or become U+FFFD.
func TestHalfCharactersAreJoinedOrReplaced(t *testing.T) {
	for _, c := range []struct {
		pieces []string // JSON literals
		want   string
	}{
		{[]string{`"x\ud83d"`, `"\ude00y"`}, "x😀y"},
		{[]string{`"x\ud83d\ude00y"`}, "x😀y"},
		{[]string{`"x\ud83d"`, `""`, `"\ude00"`}, "x😀"},
		{[]string{`"x\ud83d"`, `"y"`}, "x\uFFFDy"},
		{[]string{`"x\ud83d"`}, "x\uFFFD"},
		{[]string{`"\ude00"`}, "\uFFFD"},
		{[]string{`"x\\ud83d"`, `"y"`}, `x\ud83dy`},
		{[]string{`"x\\\ud83d"`, `"\ude00"`}, `x\😀`},
		{[]string{"\"x\xf0\x9f\"", "\"\x98\x80y\""}, "x😀y"},
		{[]string{"\"x\xc3\"", "\"\xa4\""}, "xä"},
		{[]string{"\"x\xf0\""}, "x\uFFFD"},
		{[]string{"\"x\xff\"", `"y"`}, "x\uFFFDy"},
		{[]string{`"x\u0000y"`}, "x\uFFFDy"},
	} {
		for _, field := range []string{"content", "reasoning_content", "refusal"} {
			var deltas []string
			for _, p := range c.pieces {
				deltas = append(deltas, `{"`+field+`":`+p+`}`)
			}
			var emitted []string
			p := open(t, Options{HTTPClient: providertest.Canned(200, nil, strings.NewReader(sseOf(`"stop"`, deltas...)))})
			reply, err := p.Stream(context.Background(), hello, func(e provider.Event) { emitted = append(emitted, e.Text+e.Reasoning) })
			if got := textOf(reply) + reasoningOf(reply); err != nil || got != c.want || strings.Join(emitted, "") != c.want {
				t.Errorf("%s %q: %q, emitted %q, %v; want %q", field, c.pieces, got, emitted, err, c.want)
			}
		}
	}
}

// F065
func TestOneGiantLine(t *testing.T) {
	text := strings.Repeat("äöü😀", 1<<20)
	literal, _ := json.Marshal(text)
	reply, err := decodeAll(t, 200, nil, strings.NewReader(sseOf(`"stop"`, `{"content":`+string(literal)+`}`)))
	if err != nil || textOf(reply) != text {
		t.Errorf("%d bytes, %v", len(textOf(reply)), err)
	}
}

// F069: after [DONE] the connection may stay open for as long as it likes.
func TestNothingIsReadAfterTheEnd(t *testing.T) {
	touched := errors.New("read on")
	for _, end := range []string{"data: [DONE]\n\n", "data: [DONE]\r\r", "data:[DONE]\r\n\r\n"} {
		body := io.MultiReader(strings.NewReader(hi+end), iotest.ErrReader(touched))
		if reply, err := decodeAll(t, 200, nil, iotest.OneByteReader(body)); err != nil || textOf(reply) != "hi" {
			t.Errorf("%q: %v, %v", end, reply, err)
		}
	}
}

func TestTheCallersEndIsNoReply(t *testing.T) {
	cause := errors.New("ctrl-c")
	ctx, cancel := context.WithCancelCause(t.Context())
	body := io.MultiReader(strings.NewReader(hi), iotest.ErrReader(context.Canceled))
	p := open(t, Options{HTTPClient: providertest.Canned(200, nil, iotest.OneByteReader(body))})
	_, err := p.Stream(ctx, hello, func(provider.Event) { cancel(cause) })
	if err != cause {
		t.Errorf("error %v, want the cause", err)
	}
}
