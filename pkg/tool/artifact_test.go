package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"kagent/pkg/message"
)

// shelf keeps artifacts in memory. An operation of that name fails with err.
type shelf struct {
	fail  string
	err   error
	limit int

	mu      sync.Mutex
	kept    map[string][]byte
	created int
	ended   int // kept or discarded
}

type shelved struct {
	s *shelf
	bytes.Buffer
	cut bool
}

func (s *shelf) refuses(op string) error {
	if s.fail == op {
		return &fs.PathError{Op: op, Path: "/somewhere/secret", Err: s.err}
	}
	return nil
}

func (s *shelf) Create() (Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuses("create"); err != nil {
		return nil, err
	}
	s.created++
	return &shelved{s: s}, nil
}

func (a *shelved) Write(b []byte) (int, error) {
	if room := a.s.limit - a.Len(); a.s.limit > 0 && len(b) > room {
		a.Buffer.Write(b[:room])
		a.cut = true
		return len(b), nil
	}
	a.Buffer.Write(b)
	return len(b), a.s.refuses("write")
}

func (a *shelved) Keep() (message.Artifact, error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.s.ended++
	if err := a.s.refuses("keep"); err != nil {
		return message.Artifact{}, err
	}
	sum := sha256.Sum256(a.Bytes())
	ref := hex.EncodeToString(sum[:])
	if a.s.kept == nil {
		a.s.kept = map[string][]byte{}
	}
	a.s.kept[ref] = bytes.Clone(a.Bytes())
	return message.Artifact{Ref: ref, Bytes: int64(a.Len()), Cut: a.cut}, nil
}

func (a *shelved) Discard() {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.s.ended++
}

func (s *shelf) open(ref string) (io.ReadCloser, int64, error) {
	for name, b := range s.kept {
		if strings.HasPrefix(name, ref) {
			return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
		}
	}
	return nil, 0, errors.New("no such artifact in this session")
}

// shellInto runs a command that may put its output on a shelf.
func shellInto(t *testing.T, s *shelf, command string) Result {
	t.Helper()
	return Shell(workspace(t), ShellOptions{}).Run(t.Context(), Call{Args: []byte(`{"command":` + quoted(command) + `}`), Artifacts: s})
}

func TestOutputThatIsTooLongIsKeptWhole(t *testing.T) {
	s := &shelf{}
	r := shellInto(t, s, "seq 1 40000; printf 'a\\000b\\377c'; exit 3")
	wantOutcome(t, r, Failed)
	if r.Artifact == nil || r.Artifact.Cut || s.created != 1 || s.ended != 1 {
		t.Fatalf("artifact %+v, %d begun, %d ended", r.Artifact, s.created, s.ended)
	}
	got := s.kept[r.Artifact.Ref]
	if !bytes.HasPrefix(got, []byte("1\n2\n3\n")) || !bytes.HasSuffix(got, []byte("\n39999\n40000\na\x00b\xffc")) || int64(len(got)) != r.Artifact.Bytes {
		t.Errorf("%d of %d bytes kept: %.20q", len(got), r.Artifact.Bytes, got)
	}
	wantText(t, r.Text, fmt.Sprintf("[… %d bytes omitted; to see the whole output (%d bytes), call read_file with path \"artifact:%s\" and",
		r.Omitted, r.Artifact.Bytes, r.Artifact.Ref[:16]), "1\n2\n", "[exit code 3]")

	// What the note says works.
	read := ReadFile(workspace(t), s.open)
	page := run(t, read, obj{"path": "artifact:" + r.Artifact.Ref[:16], "offset": 20000, "limit": 2})
	if page.Text != "20000\n20001\n[this is lines 20000 to 20001; read on with offset=20002]" {
		t.Errorf("page %q", page.Text)
	}
}

func TestOutputThatFitsIsNotKept(t *testing.T) {
	for _, n := range []int{0, 1, 32 << 10} {
		s := &shelf{}
		r := shellInto(t, s, fmt.Sprintf("head -c %d /dev/zero | tr '\\000' x", n))
		if r.Artifact != nil || r.Omitted != 0 || s.created != 0 {
			t.Errorf("%d bytes: artifact %+v, %d omitted", n, r.Artifact, r.Omitted)
		}
	}
	s := &shelf{}
	if r := shellInto(t, s, "head -c 32769 /dev/zero | tr '\\000' x"); r.Artifact == nil || r.Artifact.Bytes != 32769 {
		t.Errorf("one byte more: artifact %+v", r.Artifact)
	}
}

// Whatever the pieces that an output comes in, the artifact is the output.
func TestAnArtifactHasEveryByteFromTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for keep := 1; keep < 40; keep++ {
		data := make([]byte, rng.IntN(8*keep))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		s := &shelf{}
		o := newOutput(keep, s, nil)
		for rest := data; len(rest) > 0; {
			n := min(rng.IntN(3*keep), len(rest))
			o.write(rest[:n])
			rest = rest[n:]
		}
		kept, _ := o.spill.keep(true)
		if (kept != nil) != (len(data) > 2*keep) {
			t.Fatalf("keep %d of %d bytes: artifact %+v", keep, len(data), kept)
		}
		if kept != nil && !bytes.Equal(s.kept[kept.Ref], data) {
			t.Errorf("keep %d: the artifact differs", keep)
		}
	}
}

func TestAnArtifactThatIsCutSaysSo(t *testing.T) {
	s := &shelf{limit: 50_000}
	r := shellInto(t, s, "head -c 60000 /dev/zero | tr '\\000' x")
	wantOutcome(t, r, OK)
	wantText(t, r.Text, "to see the output up to byte 50000, call read_file")
	if !r.Artifact.Cut || r.Artifact.Bytes != 50_000 {
		t.Errorf("artifact %+v", r.Artifact)
	}
}

// A disk that takes no artifact takes nothing from the call.
func TestAnArtifactThatFailsIsSaidAndNoMore(t *testing.T) {
	for _, op := range []string{"create", "write", "keep"} {
		for _, err := range []error{syscall.ENOSPC, syscall.EIO, syscall.EMFILE} {
			s := &shelf{fail: op, err: err}
			r := shellInto(t, s, "seq 1 40000")
			wantOutcome(t, r, OK)
			wantText(t, r.Text, "bytes omitted; the whole output was not kept: "+err.Error()+" …]", "\n39999\n40000\n")
			if r.Artifact != nil || strings.Contains(r.Text, "secret") || s.created != s.ended {
				t.Errorf("%s fails: artifact %+v, %d begun, %d ended", op, r.Artifact, s.created, s.ended)
			}
		}
	}
}

// The result of a command that is stopped with its run is not recorded, so
// that an artifact of it would be of no use to anybody.
func TestAStoppedCommandKeepsNoArtifact(t *testing.T) {
	s, ws, kill := &shelf{}, workspace(t), make(chan struct{})
	path := fifo(t, ws, "written")
	go func() {
		await(t, path)
		close(kill)
	}()
	r := Shell(ws, ShellOptions{Kill: kill}).Run(t.Context(), Call{Args: []byte(`{"command":"seq 1 40000; echo >written; sleep 60"}`), Artifacts: s})
	wantOutcome(t, r, Stopped)
	if r.Artifact != nil || len(s.kept) != 0 || s.created != s.ended {
		t.Errorf("artifact %+v, %d kept, %d begun, %d ended", r.Artifact, len(s.kept), s.created, s.ended)
	}
	wantText(t, r.Text, "bytes omitted …]")
}

func TestReadFileOfAnArtifact(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "artifact:fe", "a file of that name")
	s := &shelf{kept: map[string][]byte{"feed": []byte("a\x00b\nbad \xff\n"), "beef": nil}}
	read := ReadFile(ws, s.open)
	for path, want := range map[string]string{
		"artifact:feed":    "a\uFFFDb\nbad \uFFFD\n[2 bytes are NUL or not valid UTF-8; they are shown as U+FFFD]",
		"artifact:fe":      "a\uFFFDb\nbad \uFFFD\n[2 bytes are NUL or not valid UTF-8; they are shown as U+FFFD]",
		"artifact:beef":    "[the file is empty]",
		"artifact:f00":     "artifact:f00: no such artifact in this session",
		"./artifact:fe":    "a file of that name",
		"artifact:../feed": "artifact:../feed: no such artifact in this session",
	} {
		if r := run(t, read, obj{"path": path}); r.Text != want {
			t.Errorf("%s: %q, want %q", path, r.Text, want)
		}
	}
	wantText(t, run(t, read, obj{"path": "artifact:feed", "offset": 4}).Text, "past the end", "has 2 lines")
	r := run(t, ReadFile(ws, nil), obj{"path": "artifact:feed"})
	wantOutcome(t, r, Failed)
	wantText(t, r.Text, "nothing was kept")
}
