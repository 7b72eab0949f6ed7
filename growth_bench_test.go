//go:build bench

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// What sessions cost that have grown, or are many. Bounds are ratios, and
// memory over that of a bare start.
const (
	manySessions = 10_000
	maxListMiB   = 20 // over start
	maxListRatio = 25 // times reading 8 KiB of as many files
	hugeMB       = 500
	maxShowMiB   = 64
	resumeMB     = 20
	maxResume    = 2.0 // times decoding its log once
)

// grow makes a session with a log of about n MB whose turn is cut off after the
// last step: 8 KB a step, much of it to be escaped.
func grow(t *testing.T, dir, script string, mb int64) *checkpoint.Journal {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(script, []byte("replies: [{text: done}]\n"), 0o600))
	s := session.Settings{Agent: "react", Model: "script:" + script, Workdir: filepath.Dir(script), Tools: []string{"read_file"}, OnUnknown: "tell"}
	j, err := checkpoint.NewStore(dir, checkpoint.Options{}).Create("s", session.Created{Task: "read all", Settings: s})
	must(err)
	must(j.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}))
	must(j.Commit())
	text := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %s: %w\", name, err) // 读取文件\n\t}\n", 100)
	for size := int64(0); size < mb*1_000_000; size += int64(len(text)) * 112 / 100 {
		n := j.State().Main().Steps + 1
		call := session.CallID{Reply: j.State().Seq + 3}
		parts := []message.Part{message.Text("I look."), message.Call(message.ToolCall{ID: fmt.Sprint("c", n), Name: "read_file", Arguments: `{"path":"a.go"}`})}
		must(j.Append("", &session.StepStart{Step: n}, &session.RequestHeader{Model: "m", Tools: s.Tools, Prompt: strings.Repeat("a", 64)},
			&session.AssistantMessage{Parts: parts, Stop: message.StopCalls, Usage: message.Usage{Total: 100}, Model: "m"},
			&session.ToolCall{Call: call, Tool: "read_file", Attempt: 1, Key: fmt.Sprint(n)},
			&session.ToolResult{Call: call, Outcome: session.OutcomeOK, Text: text}, &session.StepEnd{Step: n}))
	}
	return j
}

func TestListOfManySessions(t *testing.T) {
	dir := memoryDir(t)
	kagent, sessions := measure(t, dir), filepath.Join(dir, "sessions")
	j := grow(t, sessions, filepath.Join(dir, "script.yaml"), 0)
	if err := j.Append("", &session.UserMessage{Source: session.FromUser, Text: strings.Repeat("and this? ", 2000)}); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(); err != nil {
		t.Fatal(err)
	}
	j.Close()
	multiply(t, sessions, "s")
	start, read := kagent("version"), headsOf(t, sessions)
	for _, args := range [][]string{{"list"}, {"list", "-o", "json"}, {"list", "-q"}} {
		u := kagent(append(args, "--dir", sessions)...)
		over, ratio := u.mib-start.mib, float64(u.cpu-start.cpu)/float64(read)
		t.Logf("%v of %d sessions: %.1f MiB over the %.1f of a start, at most %d; %.1f times reading their heads, at most %d",
			args, manySessions, over, start.mib, maxListMiB, ratio, maxListRatio)
		if over > maxListMiB || ratio > maxListRatio {
			t.Errorf("%v of %d sessions: %.1f MiB over start, %.1f times reading their heads", args, manySessions, over, ratio)
		}
	}
}

// multiply copies a session to as many ids as are measured.
func multiply(t *testing.T, dir, id string) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	checkpoint, err := os.ReadFile(filepath.Join(dir, id+".json"))
	must(err)
	log, err := os.ReadFile(filepath.Join(dir, id, "events.jsonl"))
	must(err)
	for i := range manySessions - 1 {
		name := filepath.Join(dir, fmt.Sprintf("copy-%05d", i))
		must(os.Mkdir(name, 0o700))
		must(os.WriteFile(name+".json", checkpoint, 0o600))
		must(os.WriteFile(filepath.Join(name, "events.jsonl"), log, 0o600))
		must(os.WriteFile(filepath.Join(name, "lock"), nil, 0o600))
	}
}

// headsOf is the work of reading 8 KiB of each checkpoint.
func headsOf(t *testing.T, dir string) time.Duration {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) != manySessions {
		t.Fatal(len(names), err)
	}
	return worked(func() {
		b := make([]byte, 8<<10)
		for _, name := range names {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := f.Read(b); err != nil || n < len(b) {
				t.Fatal(n, err)
			}
			f.Close()
		}
	})
}

// The log has gone on after the last checkpoint, so that not even its status
// can be read from there.
func TestShowOfAHugeLog(t *testing.T) {
	dir := memoryDir(t)
	kagent, sessions := measure(t, dir), filepath.Join(dir, "sessions")
	grow(t, sessions, filepath.Join(dir, "script.yaml"), hugeMB).Close()
	for _, args := range [][]string{{"show", "s"}, {"show", "--events", "s"}, {"list"}} {
		u := kagent(append(args, "--dir", sessions)...)
		t.Logf("%v of a log of %d MB: peak memory %.1f MiB, at most %d", args, hugeMB, u.mib, maxShowMiB)
		if u.mib > maxShowMiB {
			t.Errorf("%v holds %.1f MiB", args, u.mib)
		}
	}
}

// TestResumeOfALargeSession measures the command against a program that only
// decodes each line of the log once and keeps what it holds. Both are processes
// of their own: what the memory costs that a process has not touched before is
// much of either.
func TestResumeOfALargeSession(t *testing.T) {
	dir := memoryDir(t)
	kagent, decoder := measure(t, dir), measured(t, dir, "decode", "./testdata/decode")
	j := grow(t, filepath.Join(dir, "kept"), filepath.Join(dir, "script.yaml"), resumeMB)
	if err := j.Commit(); err != nil {
		t.Fatal(err)
	}
	j.Close()
	sessions := filepath.Join(dir, "sessions")
	var decode, resume, start []time.Duration
	for range 5 {
		if b, err := exec.Command("cp", "-r", filepath.Join(dir, "kept"), sessions).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, b)
		}
		decode = append(decode, decoder(filepath.Join(sessions, "s", "events.jsonl")).cpu-decoder(os.DevNull).cpu)
		start = append(start, kagent("version").cpu)
		resume = append(resume, kagent("resume", "-q", "--dir", sessions, "s").cpu)
		os.RemoveAll(sessions)
	}
	d, r := slices.Min(decode), slices.Min(resume)-slices.Min(start) // whatever disturbs them only adds
	ratio := float64(r) / float64(d)
	t.Logf("resume %v, decoding its log of %d MB once %v: ratio %.2f, at most %.1f", r, resumeMB, d, ratio, maxResume)
	if ratio > maxResume {
		t.Errorf("resume takes %.2f times decoding the log once, want at most %.1f", ratio, maxResume)
	}
}
