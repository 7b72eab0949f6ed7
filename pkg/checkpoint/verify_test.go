package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// kinds lists the kinds of the problems, those in a row once.
func kinds(r Report) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, string(p.Kind))
	}
	return strings.Join(slices.Compact(out), " ")
}

func verify(t tb, s *Store, id string) Report {
	t.Helper()
	r, err := s.Verify(id)
	check(t, err)
	return r
}

func TestSoundSessionsHaveNoProblems(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	finished(t, s, "finished")
	live := create(t, s, "live")
	defer live.Close()
	check(t, live.Append("", &session.StepStart{Step: 1})) // more than the checkpoint knows
	crashed := create(t, s, "crashed")
	ask(t, crashed, "I look.", 1)
	check(t, crashed.Close())
	crashed, _ = reopen(t, s, "crashed")
	begin(t, crashed)
	check(t, crashed.Close())
	before := snapshot(t, dir)
	ids, err := s.IDs()
	check(t, err)
	for _, id := range ids {
		if r := verify(t, s, id); !r.OK || len(r.Problems) > 0 || r.SessionID != id {
			t.Errorf("%+v", r)
		}
	}
	if snapshot(t, dir) != before || len(ids) != 3 {
		t.Errorf("something was changed, or sessions are missing: %v", ids)
	}
}

// rewrite changes the events of a log and makes the chain anew, as somebody
// might who knows how.
func rewrite(t tb, p paths, change func(recs []record) []record) {
	t.Helper()
	var recs []record
	for line := range bytes.Lines(slurp(t, p.log)) {
		rec, err := decodeLine(line)
		check(t, err)
		recs = append(recs, rec)
	}
	var buf bytes.Buffer
	var prev uint32
	for i, rec := range change(recs) {
		rec.prev, rec.Seq = prev, int64(i+1)
		var err error
		prev, err = appendLine(&buf, rec)
		check(t, err)
	}
	write(t, p.log, buf.Bytes())
}

func TestProblemsAreFound(t *testing.T) {
	add := func(data ...session.Data) func(t *testing.T, p paths) {
		return func(t *testing.T, p paths) {
			check(t, os.Remove(p.checkpoint))
			rewrite(t, p, func(recs []record) []record {
				for _, d := range data {
					last := recs[len(recs)-1]
					last.Type, last.Data = d.Type(), d
					recs = append(recs, last)
				}
				return recs
			})
		}
	}
	change := func(f func(recs []record) []record) func(t *testing.T, p paths) {
		return func(t *testing.T, p paths) {
			check(t, os.Remove(p.checkpoint))
			rewrite(t, p, f)
		}
	}
	edit := func(from, to string) func(t *testing.T, p paths) {
		return func(t *testing.T, p paths) {
			write(t, p.checkpoint, bytes.Replace(slurp(t, p.checkpoint), []byte(from), []byte(to), 1))
		}
	}
	call := session.CallID{Reply: 7}
	for name, c := range map[string]struct {
		harm  func(t *testing.T, p paths)
		kinds string // of the problems
		says  string // the first one
	}{
		"a second result":          {add(&session.ToolResult{Call: call, Outcome: session.OutcomeOK}), "event note", "has no call 7.0"},
		"a result of no call":      {add(&session.ToolResult{Call: session.CallID{Reply: 99}}), "event note", "has no call 99.0"},
		"a call of no reply":       {add(&session.ToolCall{Call: session.CallID{Reply: 12, Index: 3}}), "event note", "has no call 12.3"},
		"a turn in a turn":         {add(&session.TurnStart{Turn: 2}, &session.TurnStart{Turn: 3}), "event note", "turn 2 was still open"},
		"an end of no turn":        {add(&session.TurnEnd{Turn: 1}), "event note", "no turn was open"},
		"created twice":            {add(&session.Created{ID: "s", Schema: session.Schema}), "event note", "begins with session/created"},
		"an unknown kind":          {add(session.Unknown{Kind: "new/kind"}), "newer note", `unknown kind "new/kind"`},
		"no event that created it": {change(func(r []record) []record { return r[1:] }), "event note", "begins with session/created"},
		"a dur that goes back":     {change(func(r []record) []record { r[len(r)-1].dur = 0; return r }), "event note", "less is durable"},
		"a dur that is too high":   {change(func(r []record) []record { r[len(r)-1].dur = 99; return r }), "event note", "durable already"},
		"an epoch that goes back":  {change(func(r []record) []record { r[1].Epoch = 4; return r }), "event note", "epoch 1 comes after 4"},
		"a copy":                   {change(func(r []record) []record { r[0].Data.(*session.Created).ID = "x"; return r }), "note", `created as session "x"`},

		"an answer that was edited":       {edit("Two files.", "No files."), "checkpoint", "differs from the log in answer"},
		"a checkpoint in another form":    {edit(`,"log"`, `, "log"`), "checkpoint", "its form"},
		"a checkpoint of another version": {edit(`"attempts":0`, `"attempts":0,"new":1`), "checkpoint", "in new"},
		"a checkpoint of no event":        {edit(`"log":{"seq":`, `"log":{"seq":0,"was":`), "checkpoint", "names no event"},
		"a checkpoint that is cut":        {func(t *testing.T, p paths) { check(t, os.Truncate(p.checkpoint, int64(len(slurp(t, p.checkpoint))-9))) }, "checkpoint", "not valid JSON"},
		"no checkpoint":                   {func(t *testing.T, p paths) { check(t, os.Remove(p.checkpoint)) }, "note", "no checkpoint"},
		"no log":                          {func(t *testing.T, p paths) { check(t, os.Remove(p.log)) }, "log", "is missing"},
		"an endless checkpoint":           {func(t *testing.T, p paths) { check(t, os.Truncate(p.checkpoint, 1<<40)) }, "checkpoint", "too large"},

		"a torn end":             {func(t *testing.T, p paths) { write(t, p.log, append(slurp(t, p.log), "{\"crc"...)) }, "torn", "5 bytes"},
		"a log for all to read":  {func(t *testing.T, p paths) { check(t, os.Chmod(p.log, 0o644)) }, "permissions", "0644"},
		"an open directory":      {func(t *testing.T, p paths) { check(t, os.Chmod(p.dir, 0o750)) }, "permissions", "0750"},
		"an open checkpoint":     {func(t *testing.T, p paths) { check(t, os.Chmod(p.checkpoint, 0o660)) }, "permissions", "0660"},
		"a foreign file":         {func(t *testing.T, p paths) { write(t, filepath.Join(p.dir, "x"), nil) }, "note", "did not put it there"},
		"a torn end set aside":   {func(t *testing.T, p paths) { write(t, filepath.Join(p.dir, "torn-7"), nil) }, "", ""},
		"a lock that is a link":  {func(t *testing.T, p paths) { check(t, os.Remove(p.lock)); check(t, os.Symlink("x", p.lock)) }, "file", "not a regular file"},
		"a log that is a link":   {func(t *testing.T, p paths) { check(t, os.Rename(p.log, p.log+"x")); check(t, os.Symlink("x", p.log)) }, "log note", "not a regular file"},
		"a file for a directory": {func(t *testing.T, p paths) { check(t, os.RemoveAll(p.dir)); write(t, p.dir, nil) }, "file", "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newTestStore(t.TempDir())
			finished(t, s, "s")
			finished(t, s, "other")
			c.harm(t, pathsOf(s.dir, "s"))
			r := verify(t, s, "s")
			first := Problem{}
			if len(r.Problems) > 0 {
				first = r.Problems[0]
			}
			if kinds(r) != c.kinds || !strings.Contains(first.Message, c.says) || r.OK != first.Kind.Note() && first.Kind != "" {
				t.Errorf("%+v", r)
			}
			if o := verify(t, s, "other"); !o.OK {
				t.Errorf("the other one: %+v", o)
			}
		})
	}
}

// What another version writes otherwise is no damage.
func TestAnotherVersionMayWriteAnotherCheckpoint(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	p := pathsOf(s.dir, "s")
	write(t, p.checkpoint, bytes.Replace(slurp(t, p.checkpoint), []byte(`"attempts":0`), []byte(`"tries":0`), 1))
	later := NewStore(s.dir, Options{Owner: session.Opened{Version: "v2"}})
	if r := verify(t, later, "s"); !r.OK || kinds(r) != "note" || !strings.Contains(r.Problems[0].Message, "attempts, tries") {
		t.Errorf("%+v", r)
	}
	if r := verify(t, s, "s"); r.OK {
		t.Errorf("%+v", r)
	}
}

func TestALineInFlightIsNoProblem(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	p := pathsOf(s.dir, "s")
	write(t, p.log, append(slurp(t, p.log), `{"crc":"01`...))
	write(t, p.dir+"/checkpoint.tmp", []byte("{"))
	if r := verify(t, s, "s"); len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestOneVerificationTellsOfAllDamage(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, false)
	lines := flipMiddle(drop(zeroMiddle(r.lines, 20), 30), 10)
	at := func(i int) int64 { return int64(len(bytes.Join(lines[:i-1], nil))) }
	p := pathsOf(s.dir, "s")
	write(t, p.log, bytes.Join(lines, nil))
	check(t, os.Truncate(p.checkpoint, 50))
	got := verify(t, s, "s")
	if len(got.Problems) != 4 || kinds(got) != "log checkpoint" {
		t.Fatalf("%+v", got.Problems)
	}
	for i, want := range []int64{at(10), at(20), at(30)} {
		if got.Problems[i].Offset != want {
			t.Errorf("problem %d at %d, want %d", i, got.Problems[i].Offset, want)
		}
	}
}

func TestVeryManyProblemsAreBounded(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, false)
	var log bytes.Buffer
	log.Write(r.lines[0])
	for i := range 3000 {
		fmt.Fprintf(&log, "garbage %d\n", i)
		log.Write(r.lines[i%len(r.lines)])
	}
	write(t, pathsOf(s.dir, "s").log, log.Bytes())
	if got := verify(t, s, "s"); len(got.Problems) != mostProblems || got.OK {
		t.Errorf("%d problems", len(got.Problems))
	}
	out, err := s.Repair("s", "")
	check(t, err)
	r.sound(t, s, out)
}

func TestArtifactsAreWhatTheirNamesSay(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	var kept []message.Artifact
	for i := range 4 {
		a, err := j.Artifacts().Create()
		check(t, err)
		_, err = fmt.Fprintf(a, "output %d", i)
		check(t, err)
		m, err := a.Keep()
		check(t, err)
		kept = append(kept, m)
		if i == 3 {
			break // no event names it
		}
		ask(t, j, "I look.", 1)
		begin(t, j)
		check(t, j.Append("", &session.ToolResult{Call: j.State().Main().Pending()[0].ID, Outcome: session.OutcomeOK, Artifact: &m}))
	}
	check(t, j.Commit())
	if r := verify(t, s, "s"); len(r.Problems) > 0 { // a result may be about to name the last one
		t.Errorf("%+v", r)
	}
	check(t, j.Close())
	dir := filepath.Join(pathsOf(s.dir, "s").dir, artifactsDir)
	write(t, filepath.Join(dir, kept[0].Ref), []byte("another"))
	check(t, os.Remove(filepath.Join(dir, kept[1].Ref)))
	write(t, filepath.Join(dir, "notes"), nil)
	write(t, filepath.Join(dir, artifactTemp+"0"), nil)
	want := map[string]Kind{kept[0].Ref: KindArtifact, kept[1].Ref: KindArtifact, kept[3].Ref: KindNote, "notes": KindNote}
	r := verify(t, s, "s")
	for _, p := range r.Problems {
		if name := filepath.Base(p.Path); want[name] != p.Kind && !(name == kept[3].Ref && r.Damaged()) {
			t.Errorf("%+v", p)
		}
	}
	if len(r.Problems) < 3 || !r.Damaged() {
		t.Errorf("%+v", r.Problems)
	}
}
