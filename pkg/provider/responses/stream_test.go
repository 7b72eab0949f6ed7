package responses

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// events frames values as a stream.
func events(values ...string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString("data: " + v + "\n\n")
	}
	return b.String()
}

// decoded returns the reply to a body, and what was emitted.
func decoded(t testing.TB, body string) (reply provider.Reply, heard string, err error) {
	t.Helper()
	p := open(t, func(r *http.Request) (*http.Response, error) { return providertest.Answered(r, 200, body), nil })
	var b strings.Builder
	reply, err = p.Stream(t.Context(), hello, func(e provider.Event) {
		if e.Reasoning != "" {
			b.WriteString("(" + e.Reasoning + ")")
		}
		b.WriteString(e.Text)
	})
	return reply, b.String(), err
}

// said sums up a reply in one line.
func said(r provider.Reply) string {
	var b strings.Builder
	for _, p := range r.Parts {
		switch p.Type {
		case message.TypeReasoning:
			b.WriteString("(" + p.Text + ")")
		case message.TypeText:
			b.WriteString(p.Text)
		case message.TypeCall:
			b.WriteString("[" + p.Call.ID + " " + p.Call.Name + " " + p.Call.Arguments + "]")
		}
	}
	return b.String()
}

const (
	completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`
	msg       = `{"type":"message","id":"m","content":[{"type":"output_text","text":"hi"}]}`
	begunF    = `{"type":"function_call","id":"f","call_id":"c","name":"read","arguments":""}`
	wholeF    = `{"type":"function_call","id":"f","call_id":"c","name":"read","arguments":"{\"a\":1}"}`
)

func added(index, item string) string {
	return `{"type":"response.output_item.added","output_index":` + index + `,"item":` + item + `}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `}`
}

func final(items string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + items + `]}}`
}

func text(index, id, piece string) string {
	return `{"type":"response.output_text.delta","output_index":` + index + `,"item_id":"` + id + `","delta":"` + piece + `"}`
}

func argument(index, id, piece string) string {
	return `{"type":"response.function_call_arguments.delta","output_index":` + index + `,"item_id":"` + id + `","delta":"` + piece + `"}`
}

// Whatever a server leaves out, repeats or numbers oddly, each item counts once.
func TestItemsAreToldOnceHoweverTheyCome(t *testing.T) {
	const call = `[c read {"a":1}]`
	const thought = `{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e"}`
	wholeM := strings.Replace(msg, `"hi"`, `"ho"`, 1)
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"in the response alone":          {[]string{final(msg + "," + wholeF)}, "hi" + call},
		"in items alone":                 {[]string{done("0", msg), done("1", wholeF), completed}, "hi" + call},
		"in deltas alone":                {[]string{text("0", "m", "hi"), argument("1", "f", `{\"a\":`), argument("1", "f", `1}`), completed}, `hi[  {"a":1}]`},
		"in all of them":                 {[]string{added("0", msg), text("0", "m", "hi"), done("0", msg), added("1", begunF), argument("1", "f", `{\"a\":1}`), done("1", wholeF), final(msg + "," + wholeF)}, "hi" + call},
		"deltas end early":               {[]string{text("0", "m", "h"), final(msg)}, "hi"},
		"deltas say something else":      {[]string{text("0", "m", "hu"), final(msg)}, "hu"},
		"no begin":                       {[]string{text("0", "m", "hi"), done("0", msg), argument("1", "f", `{\"a\":1}`), done("1", wholeF), final(msg + "," + wholeF)}, "hi" + call},
		"no item is told whole":          {[]string{added("0", msg), text("0", "m", "hi"), added("1", begunF), argument("1", "f", `{\"a\":1}`), final(msg + "," + wholeF)}, "hi" + call},
		"another id with each event":     {[]string{added("0", strings.Replace(msg, `"m"`, `"m1"`, 1)), text("0", "m2", "h"), text("0", "m3", "i"), done("0", strings.Replace(msg, `"m"`, `"m4"`, 1)), final(strings.Replace(msg, `"m"`, `"m5"`, 1))}, "hi"},
		"one index for all":              {[]string{added("0", msg), text("0", "m", "hi"), done("0", msg), added("0", begunF), argument("0", "f", `{\"a\":1}`), done("0", wholeF), final(msg + "," + wholeF)}, "hi" + call},
		"one index for two calls":        {[]string{done("0", wholeF), done("0", strings.Replace(wholeF, `"c"`, `"c2"`, 1)), final(wholeF + "," + strings.Replace(wholeF, `"c"`, `"c2"`, 1))}, call + strings.Replace(call, "c ", "c2 ", 1)},
		"no index":                       {[]string{added("null", msg), text("null", "m", "hi"), done("null", msg), added("null", begunF), argument("null", "f", `{\"a\":1}`), done("null", wholeF), final(msg + "," + wholeF)}, "hi" + call},
		"no index, pieces take turns":    {[]string{argument("null", "f", `{\"a\"`), argument("null", "g", `{\"b\"`), argument("null", "f", `:1}`), argument("null", "g", `:2}`), completed}, `[  {"a":1}][  {"b":2}]`},
		"pieces take turns":              {[]string{added("0", begunF), added("1", strings.Replace(begunF, `"c"`, `"d"`, 1)), argument("0", "", `{\"a\"`), argument("1", "", `{\"b\"`), argument("0", "", `:1}`), argument("1", "", `:2}`), completed}, call + `[d read {"b":2}]`},
		"neither index nor id":           {[]string{`{"type":"response.output_text.delta","delta":"h"}`, `{"type":"response.output_text.delta","delta":"i"}`, completed}, "hi"},
		"counted from one":               {[]string{added("1", msg), text("1", "m", "hi"), done("1", msg), done("2", wholeF), final(msg + "," + wholeF)}, "hi" + call},
		"pieces after the end":           {[]string{done("0", wholeF), argument("0", "f", `{}`), done("1", msg), text("1", "m", "hi"), final(wholeF + "," + msg)}, call + "hi"},
		"a message told twice":           {[]string{text("0", "m", "hi"), done("0", msg), done("0", msg), final(msg)}, "hi"},
		"a message told twice, no index": {[]string{done("null", msg), done("null", msg), final(msg)}, "hi"},
		"a call told twice":              {[]string{added("0", begunF), done("0", wholeF), done("0", wholeF), final(wholeF)}, call},
		"a call told twice, begun twice": {[]string{added("0", begunF), done("0", wholeF), added("0", begunF), argument("0", "f", `{\"a\":1}`), done("0", wholeF), final(wholeF)}, call},
		"a call told twice, other ids":   {[]string{done("0", wholeF), done("0", strings.Replace(wholeF, `"f"`, `"g"`, 1)), final(wholeF)}, call},
		"a thought told twice":           {[]string{done("0", thought), done("0", thought), done("1", msg), final(thought + "," + msg)}, "(t)hi"},
		"two calls alike":                {[]string{done("0", wholeF), done("1", strings.Replace(wholeF, `"c"`, `"d"`, 1)), completed}, call + `[d read {"a":1}]`},
		"two calls alike, one id":        {[]string{done("0", wholeF), done("1", wholeF), completed}, call + call},
		"two messages alike":             {[]string{done("0", msg), done("1", msg), final(msg + "," + msg)}, "hihi"},
		"index 0.0":                      {[]string{added("0.0", begunF), argument("0.0", "f", `{\"a\":1}`), done("0", wholeF), final(wholeF)}, call},
		"two messages":                   {[]string{done("0", msg), done("1", wholeM), final(msg + "," + wholeM)}, "hiho"},
		"two messages, one id":           {[]string{text("0", "m", "hi"), text("1", "m", "ho"), final(msg + "," + wholeM)}, "hiho"},
		"the second one speaks first":    {[]string{added("0", msg), text("1", "n", "h"), text("0", "m", "hi"), text("1", "n", "o"), final(msg + "," + strings.Replace(wholeM, `"m"`, `"n"`, 1))}, "hiho"},
		"other items":                    {[]string{done("0", `{"type":"web_search_call","id":"w","action":{"type":"search"}}`), done("1", msg), final(`{"type":"web_search_call","id":"w"},` + msg)}, "hi"},
		"values that are no items":       {[]string{done("0", "null"), final(`null,` + msg)}, "hi"},
		"content that is no list":        {[]string{final(`{"type":"message","content":null,"summary":"x"},{"type":"noise","content":"x","name":7},` + msg)}, "hi"},
		"arguments as an object":         {[]string{final(strings.Replace(wholeF, `"{\"a\":1}"`, `{"a":1}`, 1))}, call},
		"arguments told whole":           {[]string{added("0", begunF), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}`, completed}, call},
		"arguments null":                 {[]string{added("0", begunF), argument("0", "f", `{\"a\":1}`), final(strings.Replace(wholeF, `"{\"a\":1}"`, `null`, 1))}, call},
		"arguments empty at last":        {[]string{added("0", begunF), argument("0", "f", `{\"a\":1}`), done("0", begunF), completed}, call},
		"a summary, then the text of it": {[]string{`{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"short"}`, `{"type":"response.reasoning_text.delta","output_index":0,"delta":"long"}`, final(`{"type":"reasoning","id":"r","summary":[{"text":"short"}],"content":[{"text":"long"}]},` + msg)}, "(short)hi"},
	} {
		reply, heard, err := decoded(t, events(c.events...))
		if err != nil || said(reply) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, said(reply), err, c.want)
		}
		if spoken := strings.Split(said(reply), "[")[0]; !strings.HasPrefix(heard, spoken) {
			t.Errorf("%s: heard %q, replied %q", name, heard, said(reply))
		}
	}
}

// What came from a model goes back to it as it was.
func TestThoughtsComeBackUnchanged(t *testing.T) {
	const (
		sealed  = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a <b> é \ud83d\ude00"}],"encrypted_content":"gAAA+/=="}`
		plain   = `{"id":"x","type":"reasoning","content":[{"type":"reasoning_text","text":"long"}],"summary":[],"encrypted_content":null}`
		useless = `{"id":"rs_2","type":"reasoning","summary":[]}`
		spoken  = `{"id":"msg_1","type":"message","phase":"final_answer","content":[{"type":"output_text","text":"so"}]}`
	)
	reply, _, err := decoded(t, events(done("0", strings.Replace(sealed, "gAAA", "first", 1)), final(sealed+","+plain+","+useless+","+spoken+","+wholeF)))
	if err != nil {
		t.Fatal(err)
	}
	req := hello
	req.Messages = append(req.Messages[:1:1], message.Message{Role: message.Assistant, Model: "openai-responses/m", Parts: reply.Parts}, result("c", "read", "r"))
	_, body := sent(t, req)
	want := sealed + "," + plain +
		`,{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"so","annotations":[]}],"phase":"final_answer"}` +
		`,{"type":"function_call","id":"f","call_id":"c","name":"read","arguments":"{\"a\":1}"}`
	if !strings.Contains(body, want) || strings.Contains(body, "rs_2") {
		t.Errorf("sent %s\nwant in it %s", body, want)
	}
	req.Messages[1].Model = "openai-responses/other"
	if _, body := sent(t, req); strings.Contains(body, "rs_1") || strings.Contains(body, "msg_1") || strings.Contains(body, `"fc`) || !strings.Contains(body, `"content":"so"`) {
		t.Errorf("another model is sent %s", body)
	}
}

func TestEveryEndIsKnownOrAnError(t *testing.T) {
	for terminal, want := range map[string]message.StopReason{
		`{"type":"response.completed","response":{"status":"completed"}}`:                                                      message.StopEnd,
		`{"type":"response.completed","response":{}}`:                                                                          message.StopEnd,
		`{"type":"response.completed"}`:                                                                                        message.StopEnd,
		`{"type":"response.done","response":{"status":"completed"}}`:                                                           message.StopEnd,
		`{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`: message.StopLength,
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`:                         message.StopFilter,
		`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"bored"}}}`:            "",
		`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":null}}`:                          "",
		`{"type":"response.cancelled","response":{"status":"cancelled"}}`:                                                      "",
		`{"type":"response.done","response":{}}`:                                                                               "",
		`{"type":"response.completed","response":{"status":"in_progress"}}`:                                                    "",
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"m1"}}}`:             "",
	} {
		reply, _, err := decoded(t, events(text("0", "m", "hi"), terminal))
		var failed *provider.Error
		if want == "" && (!errors.As(err, &failed) || failed.Kind != provider.Server) || want != "" && (err != nil || reply.Stop != want) {
			t.Errorf("%s: %v, %v; want %q", terminal, reply, err, want)
		}
	}
	for body, want := range map[string]provider.Kind{
		events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"m1"}}}`):     provider.RateLimit,
		events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"m1"}}}`): provider.ContextLength,
		`{"object":"response","status":"queued","output":[]}`:                                                                         provider.Server,
		`{"object":"response","status":"failed","error":{"code":"insufficient_quota"},"output":[]}`:                                   provider.Quota,
		`{"object":"response","status":"completed","output":[`:                                                                        provider.Network,
		`[{"error":{"code":503,"message":"m1"}}]`:                                                                                     provider.Overloaded,
		events("[DONE]"):      provider.Network,
		events("7", "[DONE]"): provider.Network,
		events(`{"type":"response.output_item.done","item":{"content":{"a":`): provider.Network,
	} {
		_, _, err := decoded(t, body)
		var failed *provider.Error
		if !errors.As(err, &failed) || failed.Kind != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

func TestARefusalIsOne(t *testing.T) {
	reply, heard, err := decoded(t, events(`{"type":"response.refusal.delta","output_index":0,"delta":"I won't"}`, final(`{"type":"message","content":[{"type":"refusal","refusal":"I won't."}]}`)))
	want := []message.Part{with(message.Text("I won't."), `{"refusal":true}`)}
	if err != nil || heard != "I won't." || reply.Stop != message.StopRefusal || !reflect.DeepEqual(reply.Parts, want) {
		t.Errorf("%+v, heard %q, %v", reply, heard, err)
	}
}
