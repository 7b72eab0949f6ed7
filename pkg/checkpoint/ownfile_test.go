package checkpoint

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/session"
)

// orphaned takes the log of a session away.
func orphaned(t tb, s *Store, id string) {
	t.Helper()
	check(t, os.RemoveAll(pathsOf(s.dir, id).dir))
}

// A checkpoint whose log is lost is damage, unless somebody says that it is to
// be gone on with.
func TestACheckpointWithoutItsLogIsImportedOnPurpose(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, true)
	was, err := s.Read("s")
	check(t, err)
	_, err = s.Import(s.Path("s"), ImportOptions{})
	wantError[*NoImportError](t, err)
	orphaned(t, s, "s")
	_, _, err = s.Open("s")
	wantError[*DamagedError](t, err)
	i, err := s.Import(s.Path("s"), ImportOptions{Settings: func(known session.Settings, own bool) (session.Settings, error) {
		if !own || known.Model != "demo" || !slices.Equal(known.Tools, []string{"shell"}) || known.System != task.Settings.System {
			t.Errorf("known are %+v", known)
		}
		return known, nil
	}})
	check(t, err)
	if i.State.ID != "s-imported" || i.Format != "kagent" || i.Origin != "s" {
		t.Errorf("%+v", i)
	}
	if string(slurp(t, s.Path("s"))) != string(r.checkpoint) {
		t.Error("the checkpoint was changed")
	}
	st := sane(t, s, "s-imported")
	if a, b := st.Main().Messages(), was.State.Main().Messages(); len(a) != len(b) || !reflect.DeepEqual(a[len(a)-1].Calls(), b[len(b)-1].Calls()) {
		t.Errorf("messages\n%v\nwere\n%v", a, b)
	}
	if st.Task != task.Task || st.Usage != was.State.Usage || st.Iterations != was.State.Iterations || st.ToolCalls != was.State.ToolCalls {
		t.Errorf("%d iterations, %d calls, %+v", st.Iterations, st.ToolCalls, st.Usage)
	}
	// Calls in doubt stay that.
	p := st.Main().Pending()
	if len(p) != 2 || !p[0].InDoubt() || !p[1].InDoubt() {
		t.Errorf("pending %+v", p)
	}
	if status, reason := st.Status(); status != session.Interrupted || reason != session.ReasonCrash {
		t.Errorf("it is %s: %s", status, reason)
	}
	j, _ := reopen(t, s, "s-imported")
	check(t, j.Append("", &session.TurnStart{Turn: 2, Continues: 2}))
	settle(t, j, "done")
	answer(t, j, "It ran.")
	check(t, j.Close())
	if outlineOf(sane(t, s, "s-imported").Main()) != "u a2 t t a1 t a u a2 t t n a" {
		t.Error(outlineOf(j.State().Main()))
	}
}

func TestHowACheckpointEndedIsKept(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	j := create(t, s, "p")
	ask(t, j, "I look.", 2)
	check(t, j.Append("", &session.TurnEnd{Turn: 1, Status: session.Paused, Reason: session.ReasonMaxSteps, Error: &session.Failure{Kind: "max_steps", Message: "1"}}))
	check(t, j.Commit())
	check(t, j.Close())
	for id, want := range map[string]session.Status{"s": session.Completed, "p": session.Paused} {
		orphaned(t, s, id)
		i, err := s.Import(s.Path(id), ImportOptions{})
		check(t, err)
		st := sane(t, s, i.State.ID)
		if status, _ := st.Status(); status != want {
			t.Errorf("%s is %s", id, status)
		}
		if id == "p" && (len(st.Main().Pending()) != 2 || st.Main().Pending()[0].InDoubt() || st.Main().Turn.Error == nil) {
			t.Errorf("%s: %+v", id, st.Main())
		}
		if id == "s" && st.Main().Answer() != "Two files." {
			t.Errorf("%s answers %q", id, st.Main().Answer())
		}
	}
}

func TestChildrenOfACheckpointAreImported(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	check(t, orchestrate(t, s, "s", "do a").Close())
	orphaned(t, s, "s")
	i, err := s.Import(s.Path("s"), ImportOptions{})
	check(t, err)
	st := sane(t, s, i.State.ID)
	if got := graphState(st); got != "a completed, b running" {
		t.Errorf("graph %s", got)
	}
	if n := st.Nodes("")[0]; n.Answer != "do a" || n.Ended.IsZero() {
		t.Errorf("%+v", n)
	}
	b := st.Scope("node/b")
	if p := b.Pending(); len(p) != 1 || !p[0].InDoubt() || b.Child.Task != "do a" || b.Child.System != "be" || outlineOf(b) != "u a1" {
		t.Errorf("%+v, %s", b.Child, outlineOf(b))
	}
}

func TestWhatAgentsOfACheckpointConcludedIsImported(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	c := task
	c.Settings.Agent = "fusion"
	j, err := s.Create("s", c)
	check(t, err)
	check(t, j.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1},
		&session.RouteSet{Complexity: session.Complex, Reason: "多"}, &session.PlanSet{Steps: []string{"a", "b"}, Done: []int{1}, Replans: 2},
		&session.VerdictGiven{OK: false, Feedback: "more"}))
	check(t, j.Commit())
	want := string(fields(t, slurp(t, j.paths.checkpoint))["agentState"])
	check(t, j.Close())
	orphaned(t, s, "s")
	i, err := s.Import(s.Path("s"), ImportOptions{As: "new"})
	check(t, err)
	if got := string(fields(t, slurp(t, s.Path("new")))["agentState"]); got != want || i.State.ID != "new" {
		t.Errorf("agentState %s, was %s", got, want)
	}
}

// One that was made by hand tells nothing of its calls.
func TestCallsOfAHandMadeCheckpointAreInDoubt(t *testing.T) {
	s, i, err := imported(t, `{"schema":"kagent/checkpoint/v1","sessionId":"h","agentType":"react","status":"interrupted","metadata":{"input":"a"},"systemPrompt":"be",
		"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"gone","content":"x"},
		{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{}"}}]},
		{"role":"user","content":"b"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{}"}}]}]}`, ImportOptions{})
	check(t, err)
	st := sane(t, s, i.State.ID)
	if p := st.Main().Pending(); outlineOf(st.Main()) != "u a1 t u a1" || len(p) != 1 || !p[0].InDoubt() {
		t.Errorf("%s, pending %+v", outlineOf(st.Main()), p)
	}
}

// A checkpoint that lies elsewhere is imported whether its session has its log
// or not: nobody can know.
func TestACopiedCheckpointIsImported(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	file := filepath.Join(t.TempDir(), "copy.json")
	write(t, file, slurp(t, s.Path("s")))
	i, err := s.Import(file, ImportOptions{})
	check(t, err)
	if !strings.HasPrefix(i.State.ID, "s-imported") {
		t.Errorf("it is %s", i.State.ID)
	}
	sane(t, s, i.State.ID)
}
