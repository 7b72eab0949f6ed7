package providertest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// demanding is a service that refuses bodies that are like some, and answers others.
type demanding struct {
	refuses []string
	says    string
	status  int
	answer  string
	asked   []string
}

func (d *demanding) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	d.asked = append(d.asked, string(body))
	if slices.Contains(d.refuses, string(body)) {
		return Answered(r, d.status, d.says), nil
	}
	return Answered(r, http.StatusOK, d.answer), nil
}

// unforced is what services say in place of a forced call.
func unforced() []string {
	return []string{
		"Thinking mode does not support this tool_choice",
		"deepseek-reasoner does not support this tool_choice",
		"<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode",
		"tool_choice 'specified' is incompatible with thinking enabled",
		"Thinking may not be enabled when tool_choice forces tool use.",
		"No endpoints found that support the provided 'tool_choice' value.",
		"Invalid JSON payload received. Unknown name \"functionCallingConfig\"",
	}
}

// unfitted is what services say in place of an answer that fits a schema.
func unfitted() []string {
	return []string{
		"This response_format type is unavailable now",
		"response_format json_schema is not supported",
		"'response_format.type' : value must be one of json_object/text",
		"Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version m",
		"Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
		"The specified schema produces a constraint that has too many states for serving.",
		"Function calling with a response mime type: 'application/json' is unsupported",
		"output_config.format: Extra inputs are not permitted",
		"invalid format: expected \"json\" or a JSON Schema",
	}
}

// LeftOut checks that a forced call and a schema which the service refuses are left
// out, at once and later. A request that has neither is not sent again.
func LeftOut(t *testing.T, a Adapter) {
	forced, fitted := Hello(), Hello()
	forced.Tools = []message.ToolSpec{{Name: "decide", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
	forced.Choice = "decide"
	fitted.Output = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)
	free, loose := forced, fitted
	free.Choice, loose.Output = "", nil
	for _, c := range []struct {
		says       []string
		with, sans provider.Request
	}{{unforced(), forced, free}, {unfitted(), fitted, loose}} {
		for i, says := range c.says {
			a.leavesOut(t, []int{400, 422, 404}[i%3], says, c.with, c.sans)
		}
		a.leavesOut(t, 400, "max_tokens is too large", c.sans, c.sans)
	}
}

func (a Adapter) leavesOut(t *testing.T, status int, says string, with, sans provider.Request) {
	t.Helper()
	d := &demanding{answer: a.Wire.frame(a.Wire.Answer(Answer{Text: Literals("fine", 9)})), says: a.Wire.Body(says), status: status}
	p := a.open(t, Options{HTTPClient: &http.Client{Transport: d}})
	for _, req := range []provider.Request{with, sans} {
		if _, err := stream(t, p, req); err != nil {
			t.Fatal(err)
		}
	}
	native, plain := d.asked[0], d.asked[1]
	d.refuses, d.asked = []string{native}, nil
	if native == plain { // the adapter never sends it
		if _, err := stream(t, p, with); err == nil || len(d.asked) != 1 {
			t.Errorf("%q: %d requests, %v", says, len(d.asked), err)
		}
		return
	}
	for range 2 {
		if reply, err := stream(t, p, with); err != nil || textOf(reply) != "fine" {
			t.Errorf("%q: %v", says, err)
		}
	}
	if want := []string{native, plain, plain}; !slices.Equal(d.asked, want) {
		t.Errorf("%q: asked\n%s\nwant\n%s", says, strings.Join(d.asked, "\n"), strings.Join(want, "\n"))
	}
	a.refusedForGood(t, d, with, native, plain)
}

// refusedForGood: what did not help is not remembered.
func (a Adapter) refusedForGood(t *testing.T, d *demanding, with provider.Request, bodies ...string) {
	t.Helper()
	d.refuses, d.asked = bodies, nil
	p := a.open(t, Options{HTTPClient: &http.Client{Transport: d}})
	for range 2 {
		_, err := stream(t, p, with)
		if e := new(provider.Error); !errors.As(err, &e) || e.Status != d.status {
			t.Errorf("got %v, want status %d", err, d.status)
		}
	}
	if want := slices.Concat(bodies, bodies); !slices.Equal(d.asked, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(d.asked, "\n"), strings.Join(want, "\n"))
	}
}
