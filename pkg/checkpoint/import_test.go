package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// The files are those that kagent-ts 1.0.7 wrote, with the texts of its prompts
// replaced.
const tsFiles = "../../testdata/kagent-ts"

// outlineOf writes a conversation as its roles: u the user, n a note, a a reply,
// with the number of its calls, t a result.
func outlineOf(sc *session.Scope) string {
	var out []string
	for _, e := range sc.Entries {
		switch {
		case e.Reply != nil && len(e.Reply.Calls) > 0:
			out = append(out, fmt.Sprintf("a%d", len(e.Reply.Calls)))
			for _, c := range e.Reply.Calls {
				if c.Result != nil {
					out = append(out, "t")
				}
			}
		case e.Reply != nil:
			out = append(out, "a")
		case e.User.Source == session.FromAgent:
			out = append(out, "n")
		default:
			out = append(out, "u")
		}
	}
	return strings.Join(out, " ")
}

// graphState lists the nodes of a session with their statuses.
func graphState(s *session.State) string {
	var out []string
	for _, n := range s.Nodes("") {
		out = append(out, n.ID+" "+string(n.Status))
	}
	return strings.Join(out, ", ")
}

// What is said of each file in its manifest.
func TestFilesOfKagentTSAreImported(t *testing.T) {
	const three = "read_config completed, read_notes completed, report completed"
	for name, want := range map[string]struct {
		messages string
		status   session.Status
		reason   session.Reason
		plan     string // steps, and which are done
		graph    string
	}{
		"react-completed":                         {messages: "u a2 t t a1 t a", status: session.Completed},
		"react-approval-denied":                   {messages: "u a1 t a", status: session.Completed},
		"react-stream-completed":                  {messages: "u a1 t a", status: session.Completed},
		"react-interrupted":                       {messages: "u a1 t a1 t", status: session.Interrupted, reason: "network"},
		"react-interrupted-first-call":            {messages: "u", status: session.Interrupted, reason: "network"},
		"react-active-conn-dropped":               {messages: "u a1 t n", status: session.Interrupted, reason: "crash"},
		"react-active-killed":                     {messages: "u a1 t n", status: session.Interrupted, reason: "crash"},
		"plan-solve-completed":                    {messages: "u a1 t a1 t a1 t a", status: session.Completed, plan: "3 [0 1]"},
		"plan-solve-replanned-completed":          {messages: "u a1 t a1 t a1 t a", status: session.Completed, plan: "2 []"},
		"plan-solve-interrupted":                  {messages: "u a1 t a1 t", status: session.Interrupted, reason: "network", plan: "3 [0]"},
		"plan-solve-interrupted-planning":         {messages: "u", status: session.Interrupted, reason: "network", plan: "0 []"},
		"plan-solve-cancelled":                    {messages: "u a1 t", status: session.Cancelled, plan: "3 []"},
		"plan-solve-resumed-completed":            {messages: "u a1 t u a1 t a", status: session.Completed, plan: "3 [0]"},
		"fusion-simple-completed":                 {messages: "u a1 t a", status: session.Completed},
		"fusion-complex-completed":                {messages: "u a1 t a1 t a", status: session.Completed, plan: "2 [0]"},
		"fusion-complex-interrupted":              {messages: "u a1 t a1 t", status: session.Interrupted, reason: "network", plan: "3 [0]"},
		"fusion-cancelled":                        {messages: "u a1 t", status: session.Cancelled, plan: "2 []"},
		"orchestrator-completed":                  {messages: "u", status: session.Interrupted, reason: "network", graph: three},
		"orchestrator-completed-but-network-down": {messages: "u", status: session.Interrupted, reason: "network", graph: three},
		"orchestrator-failed-node-completed":      {messages: "u n", status: session.Failed, reason: "incomplete", graph: "bad pending, read_notes completed, after_bad pending"},
		"orchestrator-interrupted-decompose":      {messages: "u", status: session.Interrupted, reason: "network"},
		"orchestrator-cancelled-decompose":        {messages: "u", status: session.Cancelled},
		"orchestrator-active-synth-killed": {
			messages: "u n", status: session.Interrupted, reason: "crash",
			graph: three + ", read_config_r1 pending, extra pending",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newTestStore(t.TempDir())
			file := filepath.Join(tsFiles, name+".json")
			i, err := s.Import(file, ImportOptions{})
			check(t, err)
			st := sane(t, s, name)
			if i.Format != "kagent-ts" || i.Origin != name || i.State.ID != name {
				t.Errorf("%+v", i)
			}
			if status, reason := st.Status(); status != want.status || reason != want.reason {
				t.Errorf("it is %s: %s, want %s: %s", status, reason, want.status, want.reason)
			}
			if got := outlineOf(st.Main()); got != want.messages {
				t.Errorf("messages %s, want %s", got, want.messages)
			}
			plan := ""
			if agent := st.Settings.Agent; agent == "plan-solve" || want.plan != "" {
				plan = "0 []"
				if p := st.Main().Work.Plan; p != nil {
					plan = fmt.Sprintf("%d %v", len(p.Steps), p.Done)
				}
			}
			if plan != want.plan {
				t.Errorf("plan %s, want %s", plan, want.plan)
			}
			if got := graphState(st); got != want.graph {
				t.Errorf("graph %s, want %s", got, want.graph)
			}
			if string(slurp(t, filepath.Join(pathsOf(s.dir, name).dir, importedName))) != string(slurp(t, file)) {
				t.Error("the original is not kept")
			}
			calls := 0
			for _, m := range st.Main().Messages() {
				calls += len(m.Calls())
			}
			if len(st.Main().Pending()) > 0 || st.ToolCalls+len(st.Denied) < calls {
				t.Errorf("%d calls wait, %d ran of %d", len(st.Main().Pending()), st.ToolCalls, calls)
			}
		})
	}
}

// import1 imports one of the files and returns its state.
func import1(t tb, name string) *session.State {
	t.Helper()
	s, _ := newTestStore(mkdir(t))
	_, err := s.Import(filepath.Join(tsFiles, name+".json"), ImportOptions{})
	check(t, err)
	return sane(t, s, name)
}

func mkdir(t tb) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "import")
	check(t, err)
	if c, ok := t.(interface{ Cleanup(func()) }); ok {
		c.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir
}

func TestTheTaskIsWhatTheUserHadSaidFirst(t *testing.T) {
	st := import1(t, "plan-solve-resumed-completed")
	if st.Task != "Read both files and write summary.txt." || st.Main().Work.Task != st.Task || !slices.Equal(st.Main().Work.Added, []string{"continue with what you were doing"}) {
		t.Errorf("task %q, work %+v", st.Task, st.Main().Work)
	}
	if len(st.PromptHash) != 64 || st.Settings.Agent != "plan-solve" || !strings.HasPrefix(st.Settings.System, "[system prompt replaced by filler, 4715 chars]") {
		t.Errorf("%q, settings %+v", st.PromptHash, st.Settings)
	}
}

func TestTimesAreThoseOfTheFile(t *testing.T) {
	st := import1(t, "react-interrupted")
	if got := st.Created.Format("2006-01-02"); got != "2026-11-30" && got != "2026-12-01" {
		t.Errorf("created %s", got)
	}
	nodes := import1(t, "orchestrator-active-synth-killed").Nodes("")
	if d := nodes[0].Ended.Sub(nodes[0].Started); d.Milliseconds() != 2759 {
		t.Errorf("the node took %s", d)
	}
	if nodes[0].Answer != "The port is 8080." {
		t.Errorf("it brought %q", nodes[0].Answer)
	}
}

func TestIterationsAndCallsOfTheFileAreCounted(t *testing.T) {
	for name, want := range map[string][2]int{"react-interrupted": {2, 2}, "plan-solve-completed": {5, 3}, "plan-solve-replanned-completed": {6, 3}, "orchestrator-completed": {3, 0}} {
		if st := import1(t, name); st.Iterations != want[0] || st.ToolCalls != want[1] {
			t.Errorf("%s: %d iterations, %d calls, want %v", name, st.Iterations, st.ToolCalls, want)
		}
	}
}

func TestAnswersAreWhatTheUserWasShown(t *testing.T) {
	for name, want := range map[string]string{
		"plan-solve-completed": "summary.txt written: port 8080.", "plan-solve-replanned-completed": "Used config.yaml: port 8080.",
		"fusion-simple-completed": "The port is 8080.", "react-completed": "The server port is **8080**; the notes mention 日本語.",
	} {
		if got := import1(t, name).Main().Answer(); got != want {
			t.Errorf("%s answers %q", name, got)
		}
	}
}

func TestCallsThatFailedOrWereDeniedAreThat(t *testing.T) {
	if st := import1(t, "react-approval-denied"); !slices.Equal(st.Denied, []string{"bash"}) || st.ToolCalls != 0 {
		t.Errorf("denied %q, %d ran", st.Denied, st.ToolCalls)
	}
	st := import1(t, "plan-solve-replanned-completed")
	if c := st.Main().Entries[1].Reply.Calls[0]; c.Result.Outcome != session.OutcomeError {
		t.Errorf("outcome %s", c.Result.Outcome)
	}
}

// What was going on when the program was stopped, the model is told: a reply,
// and what its calls did, are not in the file.
func TestAFileThatWasActiveIsSaidToBe(t *testing.T) {
	for _, name := range []string{"react-active-killed", "react-active-conn-dropped", "react-interrupted"} {
		told := false
		for _, m := range import1(t, name).Main().Messages() {
			told = told || m.Role == message.User && strings.Contains(m.Text(), "was stopped while it worked")
		}
		if told != strings.Contains(name, "active") {
			t.Errorf("%s: the model is told so: %v", name, told)
		}
	}
	for _, n := range import1(t, "orchestrator-active-synth-killed").Nodes("") {
		if said := strings.Contains(n.Task, "may have been begun before"); said != (n.Status == session.NodePending) {
			t.Errorf("node %s is told so: %v", n.ID, said)
		}
	}
}
