package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// The sessions in testdata/v1 and testdata/v2-ish were written once, by the
// journal itself, and stay as they are: what is there must open for ever. Only
// a kind of event that v1 gains is a reason to write them again, before v1 is
// released: go test -run FrozenSessionsAreWritten -update .
var update = flag.Bool("update", false, "write the frozen sessions anew")

const (
	v1, v2ish = "testdata/v1", "testdata/v2-ish"
	frozenKey = "7d0f2c1e-5b0a-4c8e-9f00-00000000000"
	rtl       = "שלום \u202eabc\u202c مرحبا"
	family    = "👩‍👩‍👧‍👦 🏳️‍🌈"
)

func TestFrozenSessionsAreWritten(t *testing.T) {
	if !*update {
		t.Skip("-update writes them anew")
	}
	writeV1(t)
	writeV2ish(t)
	for _, dir := range []string{v1, v2ish} {
		for _, made := range []string{".gitignore", "*/lock", "*/tools.lock"} {
			names, err := filepath.Glob(filepath.Join(dir, made))
			must(t, err)
			for _, name := range names {
				must(t, os.Remove(name))
			}
		}
	}
	must(t, os.WriteFile(v1+".golden.json", []byte(indented(t, foldOf(t, v1))+"\n"), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// author writes a session as a runner does.
type author struct {
	*testing.T
	store *checkpoint.Store
	j     *checkpoint.Journal
}

func newAuthor(t *testing.T, dir, version string) *author {
	must(t, os.RemoveAll(dir))
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	owner := session.Opened{PID: 4242, Host: "host", BootID: "00000000-0000-4000-8000-000000000000", Version: version}
	return &author{T: t, store: checkpoint.NewStore(dir, checkpoint.Options{Owner: owner, Now: func() time.Time {
		now = now.Add(1234567 * time.Microsecond)
		return now
	}})}
}

func frozenSettings() session.Settings {
	return session.Settings{
		Agent: "react", Model: "openai/m", BaseURL: "http://localhost:8080/v1", APIKeyEnv: "KEY", System: "You are an agent. 你是助手。",
		Workdir: "/w", Tools: []string{"read_file", "write_file", "shell"}, Allow: []string{"write", "execute"}, Env: []string{"HOME"},
		Limits: session.Limits{MaxSteps: 20}, OnUnknown: "tell", Retries: 5, RetryMaxWait: session.Duration(time.Minute),
		StepTimeout: session.Duration(10 * time.Minute), IdleTimeout: session.Duration(2 * time.Minute),
	}
}

func (a *author) create(id, version string) {
	j, err := a.store.Create(id, session.Created{
		Task: "读取文件，然后回答。 " + family + "\n" + rtl, PromptHash: strings.Repeat("ab", 32), Settings: frozenSettings(), Version: version,
	})
	must(a.T, err)
	a.j = j
}

func (a *author) open(id string) {
	a.close()
	j, _, err := a.store.Open(id)
	must(a.T, err)
	a.j = j
}

func (a *author) close()                    { must(a.T, a.j.Close()) }
func (a *author) say(data ...session.Data)  { must(a.T, a.j.Append("", data...)) }
func (a *author) commit()                   { must(a.T, a.j.Commit()) }
func (a *author) call(i int) session.CallID { return a.j.State().Main().LastReply().Calls[i].ID }

func (a *author) begin(i, attempt int, change *message.FileChange) {
	c := a.j.State().Main().LastReply().Calls[i]
	a.say(&session.ToolCall{Call: c.ID, Tool: c.Wire.Name, Attempt: attempt, Key: fmt.Sprint(frozenKey, i), Change: change})
}

func (a *author) result(i int, o session.Outcome, text string) {
	a.say(&session.ToolResult{Call: a.call(i), Outcome: o, Text: text})
}

// ask begins a step and records its reply.
func (a *author) ask(stop message.StopReason, parts ...message.Part) {
	a.say(&session.StepStart{Step: a.j.State().Main().Steps + 1},
		&session.RequestHeader{Model: "openai/m", Tools: frozenSettings().Tools, Prompt: strings.Repeat("cd", 32)})
	usage := message.Usage{Input: 100, Output: 20, CacheRead: 50, CacheWrite: 10, Reasoning: 5, Total: 120}
	a.say(&session.AssistantMessage{Parts: parts, Stop: stop, Usage: usage, Model: "openai/m", AnsweredBy: "m-2026-12"})
}

func (a *author) endStep() {
	a.say(&session.StepEnd{Step: a.j.State().Main().Steps})
	a.commit()
}

// writeV2ish writes what a newer version might: a kind that v1 does not know,
// and a format that v1 does not know.
func writeV2ish(t *testing.T) {
	a := newAuthor(t, v2ish, "v1.9.0")
	a.create("unknown-kind", "v1.9.0")
	a.say(&session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1})
	a.say(session.Unknown{Kind: "vote/cast", Raw: json.RawMessage(`{"steps":["看","do",{"n":1e400}],"Steps":null}`)})
	a.ask(message.StopEnd, message.Text("planned"))
	a.endStep()
	a.say(&session.TurnEnd{Turn: 1, Status: session.Completed})
	a.commit()
	a.close()
	a = &author{T: t, store: newAuthor(t, t.TempDir(), "v2.0.0").store}
	a.create("newer-format", "v2.0.0")
	a.say(&session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1})
	a.commit()
	a.close()
	dir := a.store.Dir()
	log, err := os.ReadFile(filepath.Join(dir, "newer-format", "events.jsonl"))
	must(t, err)
	must(t, os.Mkdir(filepath.Join(v2ish, "newer-format"), 0o700))
	last := lastCRC(log)
	log = reseal(log, `"schema":"`+session.Schema+`"`, `"schema":"kagent/event/v2"`)
	must(t, os.WriteFile(filepath.Join(v2ish, "newer-format", "events.jsonl"), log, 0o600))
	saved, err := os.ReadFile(a.store.Path("newer-format"))
	must(t, err)
	saved = bytes.Replace(saved, []byte(checkpoint.Schema), []byte("kagent/checkpoint/v2"), 1)
	saved = bytes.Replace(saved, last, lastCRC(log), 1)
	must(t, os.WriteFile(filepath.Join(v2ish, "newer-format.json"), saved, 0o600))
}

func lastCRC(log []byte) []byte {
	return log[bytes.LastIndex(log, []byte(`{"crc":"`))+8:][:8]
}

// reseal replaces a text in a log and makes its lines fit again.
func reseal(log []byte, from, to string) []byte {
	var out []byte
	prev := "00000000"
	for _, line := range bytes.SplitAfter(bytes.ReplaceAll(log, []byte(from), []byte(to)), []byte("\n")) {
		const crc, tie = len(`{"crc":"`), len(`{"crc":"00000000","prev":"`)
		if len(line) < tie+8 {
			continue
		}
		copy(line[tie:], prev)
		body := line[crc+10 : len(line)-1]
		prev = fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		copy(line[crc:], prev)
		out = append(out, line...)
	}
	return out
}
