package script_test

import (
	"errors"
	"strings"
	"testing"

	"kagent/pkg/provider"
)

func TestAReplyIsGivenIfAllItsConditionsHold(t *testing.T) {
	two := request(user("fix the bug"), result("first"), result("exit 1"))
	for _, c := range []struct {
		when string
		req  provider.Request
		want bool
	}{
		{`{}`, two, true},
		{`{last_user: bug}`, two, true},
		{`{last_user: Bug}`, two, false},
		{`{last_user: one}`, request(user("one"), user("two")), false},
		{`{last_user_is: fix the bug}`, two, true},
		{`{last_user_is: bug}`, two, false},
		{`{last_user_is: ""}`, request(), true},
		{`{tool_results: 2}`, two, true},
		{`{tool_results: 1}`, two, false},
		{`{tool_results: 0}`, request(user("x")), true},
		{`{tool_results: {min: 1}}`, two, true},
		{`{tool_results: {max: 1}}`, two, false},
		{`{tool_results: {min: 1, max: 2}}`, two, true},
		{`{tool_results: {min: 3, max: 4}}`, two, false},
		{`{last_tool: exit}`, two, true},
		{`{last_tool: first}`, two, false},
		{`{last_tool: ""}`, request(user("x")), false},
		{`{tools: [a, b]}`, offering(two, "b", "c", "a"), true},
		{`{tools: [a, b]}`, offering(two, "a"), false},
		{`{no_tools: true}`, two, true},
		{`{no_tools: true}`, offering(two, "a"), false},
		{`{no_tools: false}`, offering(two, "a"), true},
		{`{no_tools: false}`, two, false},
		{`{scope: ""}`, labelled("", 1, 1), true},
		{`{scope: ""}`, labelled("plan-1", 1, 1), false},
		{`{scope: plan-1}`, labelled("plan-1", 1, 1), true},
		{`{scope: plan-1}`, labelled("plan-12", 1, 1), false},
		{`{scope: "node/*"}`, labelled("node/fetch/verify-1", 1, 1), true},
		{`{scope: "node/*"}`, labelled("join", 1, 1), false},
		{`{scope: "*"}`, labelled("", 1, 1), true},
		{`{ordinal: 2}`, labelled("", 2, 1), true},
		{`{ordinal: 2}`, labelled("", 3, 1), false},
		{`{ordinal: {min: 2}}`, labelled("", 3, 1), true},
		{`{attempt: {max: 2}}`, labelled("", 1, 2), true},
		{`{attempt: {max: 2}}`, labelled("", 1, 3), false},
		{`{last_user: bug, tool_results: 2, last_tool: exit}`, two, true},
		{`{last_user: bug, tool_results: 3, last_tool: exit}`, two, false},
	} {
		s := parse(t, "replies:\n- {when: "+c.when+", text: this}\n- text: other")
		if got := text(t, s, c.req) == "this"; got != c.want {
			t.Errorf("when %s: matched is %v, want %v", c.when, got, c.want)
		}
	}
}

func TestTheFirstReplyThatFitsIsGiven(t *testing.T) {
	s := parse(t, `
replies:
  - {when: {last_user: zebra}, text: one}
  - {when: {last_user: hi}, text: two}
  - {when: {last_user: hi}, text: three}
`)
	if got := text(t, s, request(user("hi"))); got != "two" {
		t.Errorf("got %q", got)
	}
}

func TestEachAttemptOfARequestCanHaveItsOwnFate(t *testing.T) {
	s := parse(t, `
replies:
  - {when: {attempt: {max: 2}}, error: {kind: network}}
  - {text: at last}
`)
	for attempt, want := range []string{"script: network: scripted error", "script: network: scripted error", "at last"} {
		if got := text(t, s, labelled("", 1, attempt+1)); got != want {
			t.Errorf("attempt %d: got %q, want %q", attempt+1, got, want)
		}
	}
}

func TestARequestThatNothingFitsIsDescribed(t *testing.T) {
	s := parse(t, "replies: [{when: {ordinal: 99}, text: x}]")
	req := request(user(strings.Repeat("問", 100)), result("r"))
	req.Label = provider.Label{Scope: "node/a", Ordinal: 4, Attempt: 2}
	_, events, err := ask(t, s, offering(req, "shell"))
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.InvalidRequest {
		t.Fatalf("got %v", err)
	}
	want := `no reply in test.yaml fits: scope "node/a", ordinal 4, attempt 2, 1 tool results, 1 tools offered, ` +
		`last user text "` + strings.Repeat("問", 80) + `…"; reply 1 is the nearest, but it is for ordinal 99`
	if e.Message != want {
		t.Errorf("got  %s\nwant %s", e.Message, want)
	}
	if len(events) > 0 {
		t.Errorf("streamed %v", events)
	}
}

func TestARequestBeyondTheEndOfARecordingIsToldSo(t *testing.T) {
	s := parse(t, "replies: [{when: {scope: '', ordinal: 1}, text: x}, {when: {scope: '', ordinal: 2}, text: x}, {when: {scope: plan-1, ordinal: 7}, text: x}]")
	req := request(user("go"))
	req.Label = provider.Label{Scope: "", Ordinal: 3, Attempt: 1}
	_, _, err := ask(t, s, req)
	if err == nil || !strings.HasSuffix(err.Error(), "; the script ends before it: the last reply for this scope is for ordinal 2") {
		t.Errorf("got %v", err)
	}
}

func TestAgentToolsAndSystemPromptAreComparedExactly(t *testing.T) {
	req := offering(request(user("x")), "a", "b")
	req.Label.Agent, req.Label.System = "react", "be 好"
	for when, want := range map[string]string{
		`{agent: react}`: "", `{agent: fusion}`: `the agent is "react" and not "fusion"`,
		`{tools_are: [b, a]}`: "", `{tools_are: [a, b, c]}`: "not offered: c", `{tools_are: [a]}`: "offered besides: b",
		`{tools_are: [c, a]}`: "not offered: c; offered besides: b", `{tools_are: []}`: "offered besides: a, b",
		`{system_is: be 好}`: "", `{system_is: be 坏}`: "differ at character 4", `{system_is: ""}`: "differ at character 1",
		`{system_sha256: ` + strings.Repeat("0a", 32) + `}`: "is not the one whose SHA-256 begins with 0a0a0a0a",
	} {
		got := text(t, parse(t, "replies: [{when: "+when+", text: this}]"), req)
		if want == "" && got != "this" || !strings.Contains(got, want) {
			t.Errorf("when %s: %s, want %q", when, got, want)
		}
	}
}

// Only where the script says so, nobody goes on without the reply.
func TestAStrictScriptEndsTheSessionWhereNothingFits(t *testing.T) {
	for head, want := range map[string]bool{"": false, "strict: false\n": false, "strict: true\n": true} {
		_, _, err := ask(t, parse(t, head+"replies: [{when: {ordinal: 9}, text: x}]"), request(user("x")))
		var e *provider.Error
		if !errors.As(err, &e) || e.Final != want || e.Kind != provider.InvalidRequest {
			t.Errorf("%q: %+v, want final: %v", head, err, want)
		}
	}
}
