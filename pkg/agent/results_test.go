package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// The order is: room, intent, sync, effect.
func TestRoomIsReservedBeforeTheIntentOfAnEffect(t *testing.T) {
	var order []string
	var r *rig
	act, look, acted := execute("act"), read("look"), make(chan int)
	act.do = func(context.Context, tool.Call) tool.Result {
		order = append(order, "effect")
		close(acted)
		return tool.Success("")
	}
	look.do = func(context.Context, tool.Call) tool.Result { <-acted; return tool.Success("") }
	r = newRig(t, plays("act a", "look b"), act, look)
	r.log.fail = func(op string, _ int) error {
		if n := len(data[*session.AssistantMessage](r.log)); n == 1 && len(order) < 4 {
			order = append(order, op)
		}
		return nil
	}
	r.run("", session.Completed, "")
	checkList(t, "the order", order[:4], "reserve", "append tool/call", "sync", "effect")
	checkList(t, "the room", r.log.reserved, 2*64<<10+4<<10)
}

func TestReadingReservesNothing(t *testing.T) {
	r := newRig(t, plays("look a", "ghost b"), read("look"))
	r.run("", session.Completed, "")
	checkList(t, "the room", r.log.reserved)
}

// A full disk that shows in time leaves no doubt about the call: it runs when
// there is space again.
func TestACallThatAFullDiskStopsIsNotInDoubt(t *testing.T) {
	act := execute("act")
	r := newRig(t, plays("act a"), act)
	r.set(func(s *session.Settings) { s.OnUnknown = "stop" })
	r.log.fail = func(op string, _ int) error {
		if op == "reserve" {
			return errDisk
		}
		return nil
	}
	end, err := r.Run(t.Context(), "")
	check(t, "the reason", end.Reason, session.ReasonStorage)
	if !errors.Is(err, errDisk) || len(act.keys) > 0 || !r.log.saved() {
		t.Errorf("ended with %v, %d effects, saved %v", err, len(act.keys), r.log.saved())
	}
	for _, c := range r.log.state.Main().Pending() {
		check(t, "being in doubt", c.InDoubt(), false)
	}
	r.log.fail = nil
	r.run("", session.Completed, "")
	check(t, "effects", len(act.keys), 1)
}

// refusesResults makes the journal refuse that many lines of results.
func (r *rig) refusesResults(n int) {
	r.log.fail = func(op string, _ int) error {
		if op == "append tool/result" && n > 0 {
			n--
			return errDisk
		}
		return nil
	}
}

func TestAResultThatFindsNoRoomIsRecordedInShort(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short",
		"sent " + strings.Repeat("界", 1000) + " exit code 3": "sent " + strings.Repeat("界", 169) + " … " + strings.Repeat("界", 166) + " exit code 3",
	} {
		act := execute("act")
		code := 3
		act.do = func(context.Context, tool.Call) tool.Result {
			return tool.Result{Outcome: tool.Failed, Text: text, ExitCode: &code, Artifact: &message.Artifact{Ref: "ab"}}
		}
		r := newRig(t, plays("act a"), act)
		r.refusesResults(1)
		r.run("", session.Completed, "")
		got := r.lastResult()
		kept, note, cut := strings.Cut(got.Text, "\n[the disk had no room")
		if kept != want || cut != (text != want) || cut && note == "" || len(kept) > 1<<10+10 {
			t.Errorf("the text is %q (%d bytes)", got.Text, len(kept))
		}
		if cut && got.Omitted != int64(len(text)-1<<10) {
			t.Errorf("%d bytes omitted of %d", got.Omitted, len(text))
		}
		if *got.ExitCode != 3 || got.Outcome != session.OutcomeError || got.Artifact == nil {
			t.Errorf("the result is %+v", got)
		}
	}
}

// When not even that is possible, the user is told what the calls did, and the
// resume finds them in doubt.
func TestAResultThatCannotBeRecordedIsTold(t *testing.T) {
	act, look := execute("act"), read("look")
	var acted sync.WaitGroup
	acted.Add(2)
	look.do = func(context.Context, tool.Call) tool.Result { acted.Wait(); return tool.Success("") }
	code := 3
	act.do = func(ctx context.Context, c tool.Call) tool.Result {
		if acted.Done(); arg(c.Args) == "stopped" {
			<-ctx.Done()
			return tool.Result{Outcome: tool.Stopped}
		}
		return tool.Result{Outcome: tool.Failed, ExitCode: &code, Text: arg(c.Args) + " was sent\n" + strings.Repeat("x", 5000)}
	}
	r := newRig(t, plays("look 0", "act 1", "act stopped", "ghost 3"), look, act)
	r.refusesResults(2)
	end, err := r.Run(t.Context(), "")
	check(t, "the reason", end.Reason, session.ReasonStorage)
	calls := r.log.state.Main().LastReply().Calls
	if !errors.Is(err, errDisk) || calls[0].Result != nil {
		t.Fatalf("ended with %v, the first result is %+v", err, calls[0].Result)
	}
	told := end.End.Error.Message
	check(t, "what the log says", r.log.state.Main().Turn.Error.Message, told)
	want := fmt.Sprintf("%v; not recorded: call %s (act) ended: error, exit code 3: 1 was sent; "+
		"not recorded: call %s (act) was ended while it ran: what it did by then is not known", errDisk, calls[1].ID, calls[2].ID)
	check(t, "what is told", told, want)
	check(t, "the first being in doubt", calls[1].InDoubt(), true)
	check(t, "the second being in doubt", calls[2].InDoubt(), true)
	r.log.fail = nil
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 ok", "1 unknown", "2 unknown", "3 invalid")
}

// store shows a session's artifacts as tools want them.
type store struct{ *checkpoint.Artifacts }

func (s store) Create() (tool.Artifact, error) {
	a, err := s.Artifacts.Create()
	if err != nil {
		return nil, err
	}
	return a, nil
}

// A long output is kept with the session and read by a later process; one that
// is gone is an observation.
func TestAnArtifactIsReadAfterAResume(t *testing.T) {
	s := newStage(t, play{})
	ws, err := tool.NewWorkspace(t.TempDir(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	script := `
replies:
  - {when: {ordinal: 1}, tool_calls: [{name: shell, arguments: {command: "seq 1 40000"}}]}
  - {when: {ordinal: 2}, text: "{{tool_result}}"}
  - {when: {ordinal: 3}, tool_calls: [{name: read_file, arguments: {path: "artifact:REF", offset: 20000, limit: 2}}]}
  - {when: {ordinal: 4}, text: "{{tool_result}}"}
  - {when: {ordinal: 5}, tool_calls: [{name: read_file, arguments: {path: "artifact:REF"}}]}
  - {text: "{{tool_result}}"}`
	run := func(j *checkpoint.Journal, prompt string) string {
		t.Helper()
		defer j.Close()
		opener := func(ref string) (io.ReadCloser, int64, error) { return j.Artifacts().Open(ref) }
		set, err := tool.NewSet(tool.Shell(ws, tool.ShellOptions{}), tool.ReadFile(ws, opener))
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, script)
		r.Journal, r.Tools, r.Artifacts = j, set, store{j.Artifacts()}
		end, err := r.Run(t.Context(), prompt)
		if err != nil || end.Status != session.Completed {
			t.Fatalf("ended %+v, %v", end, err)
		}
		return j.State().Main().Answer()
	}
	j := s.create("shell", "read_file")
	answer := run(j, "")
	res := j.State().Main().Entries[1].Reply.Calls[0].Result
	if res.Artifact == nil || !strings.Contains(answer, `"artifact:`+res.Artifact.Ref[:16]+`"`) {
		t.Fatalf("artifact %+v, the model saw %.100q", res.Artifact, answer)
	}
	script = strings.ReplaceAll(script, "REF", res.Artifact.Ref[:16])
	check(t, "the page", run(s.open(), "read on"), "20000\n20001\n[this is lines 20000 to 20001; read on with offset=20002]")
	if err := os.Remove(filepath.Join(s.dir, "s", "artifacts", res.Artifact.Ref)); err != nil {
		t.Fatal(err)
	}
	check(t, "what is gone", run(s.open(), "and again"), "artifact:"+res.Artifact.Ref[:16]+": no such artifact in this session")
}
