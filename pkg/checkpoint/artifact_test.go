package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// keep puts an output away, in two pieces.
func keep(j *Journal, text string) (message.Artifact, error) {
	a, err := j.Artifacts().Create()
	if err != nil {
		return message.Artifact{}, err
	}
	for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := a.Write([]byte(piece)); err != nil {
			a.Discard()
			return message.Artifact{}, err
		}
	}
	return a.Keep()
}

func kept(t tb, j *Journal, text string) message.Artifact {
	t.Helper()
	a, err := keep(j, text)
	check(t, err)
	return a
}

// in lists a directory.
func in(t tb, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		check(t, err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAnArtifactIsNamedByItsHash(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	dir := filepath.Join(j.paths.dir, "artifacts")
	if slices.Contains(in(t, j.paths.dir), "artifacts") {
		t.Error("a session without artifacts has a directory for them")
	}
	for range 2 { // the same output twice is one file
		text := "one\x00\xfftwo"
		if a := kept(t, j, text); a != (message.Artifact{Ref: hashOf([]byte(text)), Bytes: 8}) {
			t.Errorf("artifact %+v", a)
		}
		if b := slurp(t, filepath.Join(dir, hashOf([]byte(text)))); string(b) != text {
			t.Errorf("it holds %q", b)
		}
	}
	kept(t, j, "another")
	if names := in(t, dir); len(names) != 2 {
		t.Errorf("there are %q", names)
	}
	for name, want := range map[string]os.FileMode{"": os.ModeDir | 0o700, hashOf([]byte("another")): 0o600} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%q has mode %v: %v", name, info.Mode(), err)
		}
	}
}

func TestAnArtifactIsCutAtItsBound(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	if j.artifacts.limit != 64<<20 {
		t.Errorf("the bound is %d", j.artifacts.limit)
	}
	j.artifacts.limit = 5
	for text, want := range map[string]message.Artifact{
		"12345":         {Ref: hashOf([]byte("12345")), Bytes: 5},
		"1234567":       {Ref: hashOf([]byte("12345")), Bytes: 5, Cut: true},
		"abcdefghijklm": {Ref: hashOf([]byte("abcde")), Bytes: 5, Cut: true},
	} {
		if got := kept(t, j, text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// The file, its name and that of the directory are durable before a line can
// name them; the next one needs no more than the first two.
func TestAnArtifactIsDurableBeforeTheLineThatNamesIt(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	for _, text := range []string{"first", "second"} {
		ask(t, j, "I look.", 1)
		begin(t, j)
		fsys.reset()
		a := kept(t, j, text)
		check(t, j.Append("", &session.ToolResult{Call: j.State().Main().Pending()[0].ID, Outcome: session.OutcomeOK, Artifact: &a}))
		var order []string
		for _, c := range fsys.trace {
			if kind, _, _ := strings.Cut(c, " "); strings.Contains("sync write rename syncdir", kind) {
				order = append(order, c)
			}
		}
		want := []string{
			"write tmp-0", "write tmp-0", "sync tmp-0", "rename " + a.Ref, "syncdir artifacts",
			"syncdir s", "write events.jsonl",
		}
		if text == "second" {
			want = slices.Delete(want, 5, 6)
		}
		if !slices.Equal(order, want) {
			t.Errorf("%s: order %q\nwant %q", text, order, want)
		}
	}
}

// A failure anywhere leaves no temp file, and the session goes on.
func TestAFailedArtifactHarmsNothing(t *testing.T) {
	for _, at := range []string{
		"mkdir artifacts", "open tmp-0", "write tmp-0", "sync tmp-0", "rename " + hashOf([]byte("text")), "syncdir artifacts", "syncdir s",
	} {
		s, fsys := newTestStore(t.TempDir())
		j := create(t, s, "s")
		fsys.half = true
		fsys.failOn(at, 1, syscall.ENOSPC)
		if _, err := keep(j, "text"); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s fails: error %v", at, err)
		}
		fsys.heal()
		if names := in(t, j.artifacts.dir); slices.Contains(names, "tmp-0") {
			t.Errorf("%s fails: left %q", at, names)
		}
		fsys.reset()
		if a := kept(t, j, "text"); a.Bytes != 4 || len(in(t, j.artifacts.dir)) != 1 {
			t.Errorf("%s failed: then %+v, %q", at, a, in(t, j.artifacts.dir))
		}
		if fsys.count("syncdir s") != 1 {
			t.Errorf("%s failed: then the directory was not made durable", at)
		}
		toolStep(t, j, "on", "ok", 1)
		check(t, j.Close())
	}
}

func TestWhatAKillLeftOfArtifactsIsRemoved(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	a := kept(t, j, "text")
	half, err := j.Artifacts().Create()
	check(t, err)
	_, err = half.Write([]byte("half"))
	check(t, err)
	check(t, j.Close())
	write(t, filepath.Join(j.artifacts.dir, "tmp-7"), []byte("x"))
	j, _ = reopen(t, s, "s")
	defer j.Close()
	if names := in(t, j.artifacts.dir); !slices.Equal(names, []string{a.Ref}) {
		t.Errorf("left: %q", names)
	}
	write(t, filepath.Join(j.artifacts.dir, "tmp-0"), []byte("left over, and longer than what comes"))
	if b := slurp(t, filepath.Join(j.artifacts.dir, kept(t, j, "new").Ref)); string(b) != "new" {
		t.Errorf("it holds %q", b)
	}
}

// Killed anywhere between an output and its line, a session promises no
// artifact that is not there, whole.
func TestNoLinePromisesAnArtifactThatIsNotThere(t *testing.T) {
	named := 0
	for n := 0; ; n++ {
		s, fsys := newTestStore(t.TempDir())
		j := create(t, s, "s")
		ask(t, j, "I look.", 1)
		begin(t, j)
		fsys.half = true
		fsys.killAt(n)
		a, err := keep(j, "the output")
		if err == nil {
			err = j.Append("", &session.ToolResult{Call: j.State().Main().Pending()[0].ID, Outcome: session.OutcomeOK, Artifact: &a})
		}
		if err == nil {
			err = j.Commit()
		}
		fsys.heal()
		check(t, j.Close())
		again, _ := reopen(t, s, "s")
		for _, c := range again.State().Main().LastReply().Calls {
			if c.Result == nil {
				continue
			}
			named++
			if b := slurp(t, filepath.Join(again.artifacts.dir, c.Result.Artifact.Ref)); string(b) != "the output" {
				t.Errorf("killed at call %d: the artifact holds %q", n, b)
			}
		}
		if names := in(t, again.artifacts.dir); len(names) > 1 || len(names) == 1 && !isArtifact(names[0]) {
			t.Errorf("killed at call %d: left %q", n, names)
		}
		check(t, again.Close())
		if err == nil {
			break
		}
	}
	if named < 2 {
		t.Errorf("only %d lines with an artifact were seen", named)
	}
}

func TestArtifactsAreWrittenTogether(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			text := strings.Repeat(fmt.Sprint(i%4), 1000)
			if a, err := keep(j, text); err != nil || a.Ref != hashOf([]byte(text)) {
				t.Errorf("artifact %+v, %v", a, err)
			}
		})
	}
	toolStep(t, j, "meanwhile", "ok", 1)
	wg.Wait()
	if names := in(t, j.artifacts.dir); len(names) != 4 || len(j.artifacts.busy) != 0 {
		t.Errorf("there are %q, %d in use", names, len(j.artifacts.busy))
	}
}
