package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider/script"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// fold is what the frozen session must always be read as.
type fold struct {
	Status      session.Status
	Reason      session.Reason
	Answer      string
	Seq, Epoch  int64
	Iterations  int
	ToolCalls   int
	Denied      []string
	Attempts    int
	Turn, Steps int
	Usage       message.Usage
	Settings    session.Settings
	Messages    []message.Message
}

func foldOf(t *testing.T, dir string) fold {
	t.Helper()
	v, err := checkpoint.NewStore(dir, checkpoint.Options{}).Read("frozen")
	must(t, err)
	s, m := v.State, v.State.Main()
	f := fold{
		Answer: m.Answer(), Seq: s.Seq, Epoch: s.Epoch, Iterations: s.Iterations, ToolCalls: s.ToolCalls, Denied: s.Denied,
		Attempts: s.Attempts, Turn: m.Turn.N, Steps: m.Steps, Usage: s.Usage, Settings: s.Settings, Messages: m.Messages(),
	}
	f.Status, f.Reason = v.Status()
	return f
}

// thaw copies frozen sessions to where they may be written, with the modes that
// kagent gives: a version control system keeps none.
func thaw(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(from)))
	must(t, filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return os.Chmod(name, 0o600)
	}))
	return to
}

func TestFrozenSessionsAreReadForEver(t *testing.T) {
	s := checkpoint.NewStore(v1, checkpoint.Options{})
	list, err := s.List()
	must(t, err)
	if len(list) != 1 || list[0].SessionID != "frozen" || list[0].Status != session.Completed || list[0].Error != "" {
		t.Errorf("listed: %+v", list)
	}
	if v, err := s.Read("frozen"); err != nil || !v.Saved {
		t.Errorf("the checkpoint is not that of the log: %v", err)
	}
	golden, err := os.ReadFile(v1 + ".golden.json")
	must(t, err)
	var want fold
	must(t, json.Unmarshal(golden, &want))
	if got, want := indented(t, foldOf(t, v1)), indented(t, want); got != want {
		t.Errorf("the fold is %s\nwant %s", got, want)
	}
	for _, text := range []string{"读取文件", family, rtl, `a\u003cb/+==`, "12345678901234567890", `AbC+/==`} {
		if !bytes.Contains(golden, []byte(text)) {
			t.Errorf("%s is not in the golden fold", text)
		}
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	must(t, err)
	return string(b)
}

// Each line says what it says: an event that is written again is the same, and
// no kind is missing.
func TestTheFrozenLogsHoldEveryKind(t *testing.T) {
	seen := map[session.Type]bool{}
	for _, id := range []string{"frozen", "gone"} {
		f, err := os.Open(filepath.Join(v1, id, "events.jsonl"))
		must(t, err)
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var line map[string]any
			must(t, json.Unmarshal(lines.Bytes(), &line))
			for _, tie := range []string{"crc", "prev", "dur"} {
				delete(line, tie)
			}
			plain, err := json.Marshal(line)
			must(t, err)
			var e session.Event
			must(t, json.Unmarshal(plain, &e))
			again, err := json.Marshal(e)
			must(t, err)
			var other map[string]any
			must(t, json.Unmarshal(again, &other))
			if !reflect.DeepEqual(line, other) {
				t.Errorf("%s reads as %s", plain, again)
			}
			seen[e.Type] = true
		}
	}
	for _, k := range session.Kinds() {
		if !seen[k] {
			t.Errorf("no event of kind %s is in %s: add it to frozen_write_test.go and write them again", k, v1)
		}
	}
}

func TestFrozenSessionsAreSound(t *testing.T) {
	s := checkpoint.NewStore(thaw(t, v1), checkpoint.Options{})
	report, err := s.Verify("frozen")
	must(t, err)
	if !report.OK {
		t.Errorf("verified: %+v", report.Problems)
	}
	for _, p := range report.Problems { // a later version may write its checkpoint otherwise
		if p.Kind != checkpoint.KindNote {
			t.Errorf("%+v", p)
		}
	}
	var kinds []session.Type
	must(t, s.Events(t.Context(), "frozen", false, func(e session.Event) { kinds = append(kinds, e.Type) }))
	if len(kinds) != int(foldOf(t, v1).Seq) || !slices.Contains(kinds, "log/repaired") {
		t.Errorf("events: %q", kinds)
	}
	if _, err := s.Read("gone"); err == nil || !strings.Contains(err.Error(), "no such session") {
		t.Errorf("the removed session: %v", err)
	}
}

func TestFrozenSessionsAreGoneOnWith(t *testing.T) {
	dir := thaw(t, v1)
	s := checkpoint.NewStore(dir, checkpoint.Options{Owner: checkpoint.ThisProcess("later")})
	before := foldOf(t, dir)
	j, rec, err := s.Open("frozen")
	must(t, err)
	if rec.Torn != nil || rec.Crashed || len(rec.Warnings) > 0 {
		t.Errorf("opening found %+v", rec)
	}
	p, err := script.Parse("resume.yaml", []byte(`replies: [{when: {last_user: 继续, tool_results: 10}, text: "接着说 {{n_tool_results}}"}]`))
	must(t, err)
	tools, err := tool.NewSet()
	must(t, err)
	r := agent.Runner{Journal: j, Provider: p, Tools: tools, Strategy: agent.ByName(before.Settings.Agent), NewKey: func() string { return "k" }}
	end, err := r.Run(context.Background(), "继续 "+rtl)
	must(t, err)
	must(t, j.Close())
	after := foldOf(t, dir)
	if end.Status != session.Completed || after.Answer != "接着说 10" || after.Turn != before.Turn+1 || after.Epoch != before.Epoch+1 {
		t.Errorf("ended %+v, %+v", end, after)
	}
	if n := len(before.Messages); len(after.Messages) != n+2 || !reflect.DeepEqual(after.Messages[:n], before.Messages) {
		t.Errorf("the messages before it have changed: %+v", after.Messages)
	}
	report, err := s.Verify("frozen")
	if must(t, err); !report.OK {
		t.Errorf("verified after it: %+v", report.Problems)
	}
}
