package tool

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFileShowsContentAsItIs(t *testing.T) {
	ws := workspace(t)
	for name, content := range map[string]string{
		"plain":         "one\ntwo\n",
		"no newline":    "one\ntwo",
		"crlf":          "one\r\ntwo\r\n",
		"bom":           "\ufeffone\n",
		"中文.txt":        "你好,世界\n第二行\n",
		"emoji 🙂":       "👩‍👩‍👧‍👦 🙂\n",
		"עברית":         "שלום \u202eעולם\u202c\n",
		"only newlines": "\n\n\n",
		"replacement":   "a legal \uFFFD\n",
	} {
		put(t, ws, name, content)
		r := run(t, ReadFile(ws, nil), obj{"path": name})
		if r.Outcome != OK || r.Text != content || r.Omitted != 0 {
			t.Errorf("%s: %s %q, want %q", name, r.Outcome, r.Text, content)
		}
	}
}

func TestReadFilePages(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "一\n二\n三\n四\nfive")
	for _, tt := range []struct {
		args obj
		want string
	}{
		{obj{"offset": 1, "limit": 2}, "一\n二\n[this is lines 1 to 2; read on with offset=3]"},
		{obj{"offset": 3, "limit": 2}, "三\n四\n[this is lines 3 to 4; read on with offset=5]"},
		{obj{"offset": 4}, "四\nfive"},
		{obj{"offset": 5, "limit": 9}, "five"},
		{obj{"offset": 5.0, "limit": 1}, "five"},
		{obj{"limit": 5}, "一\n二\n三\n四\nfive"},
	} {
		tt.args["path"] = "f"
		if r := run(t, ReadFile(ws, nil), tt.args); r.Outcome != OK || r.Text != tt.want {
			t.Errorf("%v: %s %q, want %q", tt.args, r.Outcome, r.Text, tt.want)
		}
	}
	for _, offset := range []any{6, 1e15} {
		r := run(t, ReadFile(ws, nil), obj{"path": "f", "offset": offset})
		wantOutcome(t, r, Failed)
		wantText(t, r.Text, "past the end", "has 5 lines")
	}
	put(t, ws, "g", "a\nb\n")
	wantText(t, run(t, ReadFile(ws, nil), obj{"path": "g", "offset": 3}).Text, "has 2 lines")
}

// All pages of a file together are the file, wherever the bound falls.
func TestReadFilePagesAddUp(t *testing.T) {
	ws := workspace(t)
	var b strings.Builder
	for i := 0; b.Len() < 3*maxRead; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("界", i%97))
	}
	put(t, ws, "f", b.String())
	var got strings.Builder
	for offset, pages := 1, 1; ; pages++ {
		r := run(t, ReadFile(ws, nil), obj{"path": "f", "offset": offset})
		wantOutcome(t, r, OK)
		text, note, cut := strings.Cut(r.Text, "\n[cut at 256 KiB: ")
		got.WriteString(text)
		if !cut {
			break
		}
		got.WriteByte('\n')
		if rest := int64(b.Len() - got.Len()); r.Omitted != rest || len(text) > maxRead {
			t.Errorf("page %d leaves out %d, want %d", pages, r.Omitted, rest)
		}
		var from, to int
		if _, err := fmt.Sscanf(note, "this is lines %d to %d; read on with offset=%d]", &from, &to, &offset); err != nil {
			t.Fatalf("note %q: %v", note, err)
		}
		if pages > 5 {
			t.Fatal("too many pages")
		}
	}
	if got.String() != b.String() {
		t.Error("the pages are not the file")
	}
}

func TestReadFileCutsALongLineBetweenRunes(t *testing.T) {
	ws := workspace(t)
	for shift := range 4 { // F022, for this tool
		put(t, ws, "f", strings.Repeat("x", shift)+strings.Repeat("🙂", 100_000)+"\nnext\n")
		r := run(t, ReadFile(ws, nil), obj{"path": "f"})
		wantOutcome(t, r, OK)
		wantText(t, r.Text, "line 1 is too long", "offset=2")
		if strings.Contains(r.Text, "\uFFFD") || len(r.Text) > maxRead+500 || r.Omitted == 0 {
			t.Errorf("shift %d: %d bytes, omitted %d", shift, len(r.Text), r.Omitted)
		}
		if r := run(t, ReadFile(ws, nil), obj{"path": "f", "offset": 2}); r.Text != "next\n" {
			t.Errorf("the next line is %q", r.Text)
		}
	}
}

func TestReadFileShowsBinaryAsReplacements(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "a\xff\xfe\x00b\xe7\n")
	r := run(t, ReadFile(ws, nil), obj{"path": "f"})
	if want := "a\uFFFD\uFFFDb\uFFFD\n[4 bytes are NUL or not valid UTF-8; they are shown as U+FFFD]"; r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
	put(t, ws, "latin1", strings.Repeat("\xe4 \x00", maxRead))
	if r := run(t, ReadFile(ws, nil), obj{"path": "latin1"}); len(r.Text) > maxRead+500 {
		t.Errorf("%d bytes of text", len(r.Text))
	}
}

func TestReadFileOfAHugeFileIsBounded(t *testing.T) {
	ws := workspace(t)
	path := put(t, ws, "huge", "")
	if err := os.Truncate(path, 10<<30); err != nil {
		t.Skip("this file system has no sparse files:", err)
	}
	r := run(t, ReadFile(ws, nil), obj{"path": "huge"})
	wantOutcome(t, r, OK)
	if len(r.Text) > maxRead+500 || r.Omitted < 9<<30 {
		t.Errorf("%d bytes of text, %d omitted", len(r.Text), r.Omitted)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantOutcome(t, ReadFile(ws, nil).Run(ctx, Call{Args: []byte(`{"path":"huge","offset":2}`)}), Stopped)
}

// F099: what is not a regular file is refused, and nothing blocks.
func TestReadFileRefuses(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "dir/sub/x", "")
	fifo(t, ws, "fifo")
	link(t, ws, "/dev/zero", "zero")
	link(t, ws, "fifo", "tofifo")
	l, err := net.Listen("unix", filepath.Join(ws.Dir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{
		"fifo":          "named pipe",
		"tofifo":        "named pipe",
		"s":             "socket",
		"zero":          "outside",
		"/dev/zero":     "outside",
		"dir":           "list_files",
		"dir/":          "list_files",
		".":             "list_files",
		"none":          "none does not exist",
		"dir/no/yes/up": "nor does the directory dir/no",
		"":              "minLength",
	} {
		r := run(t, ReadFile(ws, nil), obj{"path": path})
		if r.Outcome != Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %s %q, want a failure about %q", path, r.Outcome, r.Text, want)
		}
	}
	dev, err := NewWorkspace("/dev")
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, run(t, ReadFile(dev, nil), obj{"path": "zero"}).Text, "device")
}

func TestReadFileSaysThatAFileIsEmpty(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "")
	if r := run(t, ReadFile(ws, nil), obj{"path": "f"}); r.Outcome != OK || r.Text != "[the file is empty]" {
		t.Errorf("%s %q", r.Outcome, r.Text)
	}
}
