package checkpoint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// imported makes a session of a text.
func imported(t tb, text string, o ImportOptions) (*Store, Import, error) {
	t.Helper()
	dir := mkdir(t)
	file := filepath.Join(dir, "old.json")
	write(t, file, []byte(text))
	s, _ := newTestStore(filepath.Join(dir, "sessions"))
	i, err := s.Import(file, o)
	if string(slurp(t, file)) != text {
		t.Fatalf("the file was changed")
	}
	return s, i, err
}

// ts is a file of kagent-ts with some messages, in the form that has metadata.
func ts(agent, status, state, messages string) string {
	return fmt.Sprintf(`{"sessionId":"old","agentType":%q,"status":%q,"systemPrompt":"be","agentState":%s,"messages":[%s],
		"metadata":{"createdAt":"2026-12-01T08:00:00.000Z","updatedAt":"2026-12-01T08:10:00.000Z","iterations":7,"toolCalls":9,"tokenUsage":48211,"input":"go on"}}`,
		agent, status, state, messages)
}

const asked = `{"role":"system","content":"be"},{"role":"user","content":"the task","timestamp":1796083200000}`

func TestTheFormWithMetadataIsImported(t *testing.T) {
	_, i, err := imported(t, ts("plan-solve", "interrupted",
		`{"currentPlan":["看","b","c"],"completedSteps":[0,2],"replanCount":1,"currentStep":1}`, asked), ImportOptions{})
	check(t, err)
	st := i.State
	p := st.AgentState(session.Look{}).(*session.PlanState)
	if !slices.Equal(p.CompletedSteps, []int{0, 2}) || p.ReplanCount != 1 || p.CurrentStep != 1 || len(p.CurrentPlan) != 3 {
		t.Errorf("%+v", p)
	}
	if st.Iterations != 7 || st.ToolCalls != 9 || st.Usage.Total != 48211 || st.Task != "the task" {
		t.Errorf("%d iterations, %d calls, %+v, task %q", st.Iterations, st.ToolCalls, st.Usage, st.Task)
	}
	if st.Created.Format("15:04") != "08:00" || st.Updated.Format("15:04") != "08:10" {
		t.Errorf("from %s to %s", st.Created, st.Updated)
	}

	_, i, err = imported(t, ts("fusion", "interrupted", `{"routingResult":{"complexity":"complex","reason":"多"},"currentPlan":["a"],"completedSteps":[],
		"reflectionHistory":[{"passed":false,"feedback":"more"},{"score":3}],"phase":"reflecting"}`, asked), ImportOptions{})
	check(t, err)
	f := i.State.AgentState(session.Look{}).(*session.FusionState)
	if f.RoutingResult.Reason != "多" || len(f.ReflectionHistory) != 1 || f.ReflectionHistory[0].OK || f.ReflectionHistory[0].Feedback != "more" || f.Phase != session.PhaseExecuting {
		t.Errorf("%+v", f)
	}

	const graph = `{"taskGraph":{"nodes":[{"id":"a","input":"do a","status":"completed"},{"id":"b","description":"do b","dependsOn":["a"],"status":"pending"}]},
		"completedNodes":%s,"currentRound":2%s}`
	for _, results := range []string{`{"a":"A 完"}`, `[["a","A 完"]]`} {
		_, i, err = imported(t, ts("orchestrator", "interrupted", fmt.Sprintf(graph, results, ""), asked), ImportOptions{})
		check(t, err)
		o := i.State.AgentState(session.Look{}).(*session.OrchestratorState)
		if o.CompletedNodes["a"] != "A 完" || o.CurrentRound != 2 || o.SynthesisResult != nil || graphState(i.State) != "a completed, b pending" {
			t.Errorf("%s: %+v", results, o)
		}
	}
	done := strings.Replace(fmt.Sprintf(graph, `{}`, `,"synthesisResult":"All of it."`), "pending", "completed", 1)
	_, i, err = imported(t, ts("orchestrator", "completed", done, asked), ImportOptions{})
	check(t, err)
	if status, _ := i.State.Status(); status != session.Completed || i.State.Main().Answer() != "All of it." {
		t.Errorf("it is %s, and answers %q", status, i.State.Main().Answer())
	}
}

// A message without a call, or with one that nobody answered, is nothing that a
// service would take.
func TestCallsAndResultsArePaired(t *testing.T) {
	call := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}`, id)
	}
	result := func(id string) string { return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"ok"}`, id) }
	for name, c := range map[string]struct{ messages, want string }{
		"no result":                {asked + `,{"role":"assistant","content":"","tool_calls":[` + call("a") + `]}`, "u a1 t"},
		"one of two":               {asked + `,{"role":"assistant","content":null,"tool_calls":[` + call("a") + `,` + call("b") + `]},` + result("b"), "u a2 t t"},
		"none, and a prompt":       {asked + `,{"role":"assistant","tool_calls":[` + call("a") + `]},{"role":"user","content":"go on"}`, "u a1 t u"},
		"one id twice":             {asked + `,{"role":"assistant","tool_calls":[` + call("") + `,` + call("") + `]},` + result("") + `,` + result(""), "u a2 t t"},
		"a result of nothing":      {asked + `,` + result("x") + `,{"role":"assistant","content":"well"}`, "u a"},
		"a result that comes late": {asked + `,{"role":"assistant","tool_calls":[` + call("a") + `]},{"role":"user","content":"go on"},` + result("a"), "u a1 t u"},
		"a reply before the user":  {`{"role":"assistant","content":"hello"},{"role":"user","content":"hi"}`, "a u"},
		"nothing but a reply":      {`{"role":"assistant","content":"hello"}`, "u a"},
		"blank messages":           {asked + `,{"role":"assistant","content":" "},{"role":"user","content":""},{"role":"assistant","content":"well"}`, "u a"},
		"two prompts":              {asked + `,{"role":"user","content":"and?"}`, "u u"},
		"two system messages":      {`{"role":"system","content":"be"},{"role":"system","content":"be\n=== Current Plan (1/2)"},{"role":"user","content":"t"}`, "u"},
		"a summary":                {asked + `,{"role":"assistant","content":"well"},{"role":"system","content":"[Summary of the earlier conversation] x"},{"role":"user","content":"and?"}`, "u a n u"},
		"content in parts":         {`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "u"},
		"only a node's result":     {`{"role":"user","name":"subagent:x:y","content":"x"}`, "u n"},
		"a role of another kind":   {asked + `,{"role":"developer","content":"x"}`, "u"},
	} {
		t.Run(name, func(t *testing.T) {
			s, i, err := imported(t, ts("react", "interrupted", "null", c.messages), ImportOptions{})
			check(t, err)
			st := sane(t, s, i.State.ID)
			if got := outlineOf(st.Main()); got != c.want {
				t.Errorf("messages %s, want %s", got, c.want)
			}
			paired(t, st.Main())
			for _, e := range st.Main().Entries {
				if e.Reply == nil {
					continue
				}
				for _, c := range e.Reply.Calls {
					if c.Result == nil {
						t.Errorf("call %s has no result", c.ID)
					}
				}
			}
			if n := len(st.Main().Pending()); n > 0 {
				t.Errorf("%d calls wait", n)
			}
		})
	}
}

func TestGraphsThatCannotBeGoneOnWithAreMended(t *testing.T) {
	for name, c := range map[string]struct{ nodes, want string }{
		"twice":         {`{"id":"a","status":"pending"},{"id":"a","status":"completed"}`, "a pending"},
		"no such need":  {`{"id":"a","dependsOn":["nobody","a2"]},{"id":"a2"}`, "a pending, a2 pending"},
		"a circle":      {`{"id":"a","dependsOn":["b"]},{"id":"b","dependsOn":["a"]}`, ""},
		"itself":        {`{"id":"a","dependsOn":["a"]}`, ""},
		"illegal names": {`{"id":"a/b","status":"completed"},{"id":"a b","dependsOn":["a/b"]},{"id":""},{"id":"读"}`, "a-b-1 completed, a-b-2 pending, 1 pending, 读 pending"},
	} {
		_, i, err := imported(t, ts("orchestrator", "interrupted", `{"taskGraph":{"nodes":[`+c.nodes+`]}}`, asked), ImportOptions{})
		check(t, err)
		if got := graphState(i.State); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTextsAreCleanedAndMasked(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(message.Clean(s), "secret", "[masked]") }
	s, i, err := imported(t, ts("react", "completed", "null",
		`{"role":"user","content":"a secret\u0000"},{"role":"assistant","content":"secret","tool_calls":[{"id":"a","function":{"name":"secret","arguments":{"x":"secret"}}}]},{"role":"tool","tool_call_id":"a","content":"secret"}`),
		ImportOptions{Clean: mask})
	check(t, err)
	if log := slurp(t, pathsOf(s.dir, i.State.ID).log); strings.Contains(string(log), "secret") || strings.Contains(string(log), `\u0000`) {
		t.Errorf("%s", log)
	}
}

func TestSettingsAreCompletedByWhoImports(t *testing.T) {
	_, i, err := imported(t, ts("react", "completed", "null", asked), ImportOptions{As: "mine", Settings: func(s session.Settings, own bool) (session.Settings, error) {
		if own || s.Agent != "react" || s.System != "be" {
			t.Errorf("known are %+v", s)
		}
		s.Model = "m"
		return s, nil
	}})
	check(t, err)
	if i.State.ID != "mine" || i.State.Settings.Model != "m" || i.State.Settings.System != "be" {
		t.Errorf("%+v", i.State.Settings)
	}
}

// The id is that of the file where that can be, else one like it.
func TestTheIDOfAnImport(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(filepath.Join(dir, "sessions"))
	for _, c := range []struct{ origin, file, want string }{
		{"old", "a.json", "old"},
		{"old", "a.json", "old-imported"},
		{"old", "b.json", "old-imported-2"},
		{"a b", "c.json", "c"},
		{"", "d e.json", "imported"},
		{"../x", "x y", "imported-imported"},
	} {
		var f map[string]any
		check(t, json.Unmarshal([]byte(ts("react", "completed", "null", asked)), &f))
		f["sessionId"] = c.origin
		b, err := json.Marshal(f)
		check(t, err)
		write(t, filepath.Join(dir, c.file), b)
		i, err := s.Import(filepath.Join(dir, c.file), ImportOptions{})
		if err != nil || i.State.ID != c.want || i.Origin != c.origin {
			t.Errorf("%+v: %s, %v", c, i.State.ID, err)
		}
	}
	_, err := s.Import(filepath.Join(dir, "a.json"), ImportOptions{As: "old"})
	if err != ErrExists {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoSessionIsRefused(t *testing.T) {
	huge := ts("react", "completed", "null", asked+strings.Repeat(" ", maxForeign))
	for name, c := range map[string]struct {
		text string
		want func(error) bool
	}{
		"nothing":             {"", as[*DamagedError]},
		"blanks":              {" \n", as[*DamagedError]},
		"half a file":         {ts("react", "completed", "null", asked)[:200], as[*DamagedError]},
		"garbage":             {"hello", as[*DamagedError]},
		"more than one":       {ts("react", "completed", "null", asked) + "{}", as[*DamagedError]},
		"a wrong type":        {strings.Replace(ts("react", "completed", "null", asked), `"systemPrompt":"be"`, `"systemPrompt":[1]`, 1), as[*DamagedError]},
		"another case":        {strings.Replace(ts("react", "completed", "null", asked), `"status"`, `"Status"`, 1), as[*DamagedError]},
		"an unknown agent":    {ts("dancer", "completed", "null", asked), as[*DamagedError]},
		"an unknown status":   {ts("react", "dancing", "null", asked), as[*DamagedError]},
		"another file":        {`{"name":"kagent","version":"1.0.7"}`, as[*NoImportError]},
		"a list":              {`[1,2]`, as[*DamagedError]},
		"too much":            {huge, as[*NoImportError]},
		"a checkpoint to be":  {`{"schema":"kagent/checkpoint/v9","sessionId":"x"}`, as[*DamagedError]},
		"half a checkpoint":   {`{"schema":"kagent/checkpoint/v1","sessionId":"x"`, as[*DamagedError]},
		"a bad checkpoint":    {`{"schema":"kagent/checkpoint/v1","metadata":{"createdAt":7}}`, as[*DamagedError]},
		"a bad agent's state": {`{"schema":"kagent/checkpoint/v1","agentState":{"currentPlan":7}}`, as[*DamagedError]},
	} {
		s, _, err := imported(t, c.text, ImportOptions{})
		if !c.want(err) {
			t.Errorf("%s: error %T %v", name, err, err)
		}
		if names := in(t, s.dir); len(names) > 0 {
			t.Errorf("%s: it leaves %q", name, names)
		}
	}
	s, _ := newTestStore(t.TempDir())
	for _, name := range []string{"nowhere", ".", os.DevNull} {
		if _, err := s.Import(name, ImportOptions{}); !as[*NoImportError](err) {
			t.Errorf("%s: error %T %v", name, err, err)
		}
	}
}
