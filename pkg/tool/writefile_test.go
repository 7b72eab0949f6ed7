package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// noTemp fails when a temporary file is left below the work directory.
func noTemp(t *testing.T, ws *Workspace) {
	t.Helper()
	if files := tree(t, ws.Dir()); strings.Contains(files, ".tmp") {
		t.Errorf("a temporary file is left: %.300q", files)
	}
}

func TestWriteFileCreatesAndReplaces(t *testing.T) {
	ws := workspace(t)
	path := filepath.Join(ws.Dir(), "a/新/f 🙂")
	for i, content := range []string{"你好\n", "", "שלום \u202e🙂\x00\r\n", strings.Repeat("x", 1<<20)} {
		r := run(t, WriteFile(ws), obj{"path": "a/新/f 🙂", "content": content})
		wantOutcome(t, r, OK)
		if got := mustRead(t, path); got != content {
			t.Errorf("wrote %.50q, want %.50q", got, content)
		}
		if i == 0 {
			wantText(t, r.Text, "created a/新/f 🙂, 7 bytes")
		}
		if i == 1 {
			wantText(t, r.Text, "replaced a/新/f 🙂, 0 bytes (7 before)")
		}
	}
	noTemp(t, ws)
}

func TestWriteFileKeepsTheMode(t *testing.T) {
	ws := workspace(t)
	for _, mode := range []os.FileMode{0o755, 0o600, 0o666} {
		path := put(t, ws, "f", "old")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, run(t, WriteFile(ws), obj{"path": "f", "content": "new"}), OK)
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("mode is %v, want %v (%v)", info.Mode(), mode, err)
		}
	}
	wantOutcome(t, run(t, WriteFile(ws), obj{"path": "g", "content": "new"}), OK)
	if info, err := os.Stat(filepath.Join(ws.Dir(), "g")); err != nil || info.Mode()&^0o644 != 0 {
		t.Errorf("mode of a new file is %v (%v)", info.Mode(), err)
	}
}

func TestAHardLinkedFileIsSplitAndTheResultSaysSo(t *testing.T) {
	ws := workspace(t)
	for name, tool := range map[string]Tool{"write": WriteFile(ws), "edit": EditFile(ws)} {
		path := put(t, ws, name, "old\n")
		other := filepath.Join(t.TempDir(), "store")
		if err := os.Link(path, other); err != nil {
			t.Skip(err)
		}
		args := obj{"path": name, "content": "new\n"}
		if name == "edit" {
			args = obj{"path": name, "edits": []obj{{"old": "old", "new": "new"}}}
		}
		wantText(t, run(t, tool, args).Text, "hard-linked: its other names (1) keep the old content")
		if a, b := mustRead(t, path), mustRead(t, other); a != "new\n" || b != "old\n" {
			t.Errorf("%s: %q and %q", name, a, b)
		}
		if text := run(t, WriteFile(ws), obj{"path": name, "content": "newer"}).Text; strings.Contains(text, "linked") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestWriteFileRespectsWriteProtection(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	ws := workspace(t)
	path := put(t, ws, "f", "old")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	wantText(t, run(t, WriteFile(ws), obj{"path": "f", "content": "new"}).Text, "write-protected")
	if got := mustRead(t, path); got != "old" {
		t.Errorf("content is %q", got)
	}
}

func TestWriteFileGoesThroughLinksInside(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "real/target", "old")
	link(t, ws, "real/target", "l")
	link(t, ws, "real/fresh", "dangling")
	for name, target := range map[string]string{"l": "real/target", "dangling": "real/fresh"} {
		args, _ := json.Marshal(obj{"path": name, "content": "new"})
		change, err := WriteFile(ws).Change(args)
		if err != nil || change.Path != target {
			t.Fatalf("change of %s is %+v, %v", name, change, err)
		}
		wantOutcome(t, run(t, WriteFile(ws), obj{"path": name, "content": "new"}), OK)
		if got := mustRead(t, filepath.Join(ws.Dir(), target)); got != "new" {
			t.Errorf("%s holds %q", target, got)
		}
		if info, err := os.Lstat(filepath.Join(ws.Dir(), name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more (%v)", name, err)
		}
	}
}

func TestWriteFileRefuses(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "dir/f", "old")
	fifo(t, ws, "fifo")
	for path, want := range map[string]string{
		"dir": "directory", "dir/f/x": "not a directory", "new/": "not exist", "fifo": "named pipe", ".": "directory",
	} {
		r := run(t, WriteFile(ws), obj{"path": path, "content": "new"})
		if r.Outcome != Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %s %q, want a failure about %q", path, r.Outcome, r.Text, want)
		}
	}
	wantText(t, run(t, WriteFile(ws), obj{"path": "x"}).Text, `"content" is missing`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantOutcome(t, WriteFile(ws).Run(ctx, Call{Args: []byte(`{"path":"x","content":""}`)}), Stopped)
	if _, err := os.Lstat(filepath.Join(ws.Dir(), "x")); err == nil {
		t.Error("a stopped call wrote its file")
	}
	noTemp(t, ws)
}

func TestChangeTellsWhetherAWriteHappened(t *testing.T) {
	ws := workspace(t)
	tool := WriteFile(ws)
	for _, step := range []struct{ path, content, before string }{
		{"d/f", "一", ""}, {"./d/../d/f", "二", sum("一")}, {"d/f", "二", sum("二")},
	} {
		args, _ := json.Marshal(obj{"path": step.path, "content": step.content})
		change, err := tool.Change(args)
		if err != nil || change.Path != "d/f" || change.Before != step.before || change.After != sum(step.content) {
			t.Fatalf("change is %+v, %v", change, err)
		}
		if h, err := tool.Hash(change.Path); err != nil || h != change.Before {
			t.Errorf("hash before is %q, %v", h, err)
		}
		wantOutcome(t, tool.Run(t.Context(), Call{Args: args}), OK)
		if h, err := tool.Hash(change.Path); err != nil || h != change.After {
			t.Errorf("hash after is %q, %v", h, err)
		}
	}
	path := put(t, ws, "huge", "")
	if err := os.Truncate(path, maxHashed+1); err != nil {
		t.Skip("this file system has no sparse files:", err)
	}
	if change, err := tool.Change([]byte(`{"path":"huge","content":""}`)); change != nil || err != nil {
		t.Errorf("a huge file's change is %+v, %v", change, err)
	}
	if _, err := tool.Hash("huge"); err == nil {
		t.Error("a huge file has a hash")
	}
}

func TestAFailedReplaceLeavesTheOldFile(t *testing.T) {
	ws := workspace(t)
	path := put(t, ws, "f", "old")
	p, err := ws.resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	err = replaceFile(p.dir, p.base, p.info, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return full
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error is %v", err)
	}
	if got := mustRead(t, path); got != "old" {
		t.Errorf("content is %q", got)
	}
	noTemp(t, ws)
}

func TestWriteFileRemovesTheLeftoverOfAKill(t *testing.T) {
	ws := workspace(t)
	put(t, ws, tempName("f"), "half")
	put(t, ws, "d/x", "")
	link(t, ws, "../d/x", "d/"+tempName("g")) // never written through
	wantOutcome(t, run(t, WriteFile(ws), obj{"path": "f", "content": "new"}), OK)
	wantOutcome(t, run(t, WriteFile(ws), obj{"path": "d/g", "content": "new"}), OK)
	if got := mustRead(t, filepath.Join(ws.Dir(), "d/x")); got != "" {
		t.Errorf("the link's target holds %q", got)
	}
	noTemp(t, ws)
}

func TestReplaceStopsWhenAnotherProcessWritesTheSameFile(t *testing.T) {
	ws := workspace(t)
	p, err := ws.resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	err = replaceFile(p.dir, "f", nil, func(w io.Writer) error {
		if err := os.Remove(filepath.Join(ws.Dir(), tempName("f"))); err != nil {
			return err
		}
		put(t, ws, tempName("f"), "theirs")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Lstat(filepath.Join(ws.Dir(), "f")); err == nil {
		t.Error("the other's half file was published")
	}
	if got := mustRead(t, filepath.Join(ws.Dir(), tempName("f"))); got != "theirs" {
		t.Errorf("the other's temporary file holds %q", got)
	}
}

func TestConcurrentWritesAreWhole(t *testing.T) {
	ws := workspace(t)
	tool := WriteFile(ws)
	contents := map[string]bool{}
	var wg sync.WaitGroup
	for _, c := range []string{"a", "b", "c", "d"} {
		content := strings.Repeat(c, 100_000)
		contents[content] = true
		args, _ := json.Marshal(obj{"path": "new/dir/f", "content": content})
		wg.Go(func() {
			if r := tool.Run(t.Context(), Call{Args: args}); r.Outcome != OK {
				t.Errorf("%s", r.Text)
			}
		})
	}
	wg.Wait()
	if !contents[mustRead(t, filepath.Join(ws.Dir(), "new/dir/f"))] {
		t.Error("the file is a mixture")
	}
	noTemp(t, ws)
}
