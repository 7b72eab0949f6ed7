package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"kagent/pkg/message"
)

// Bounds of edit_file: the file before and after, and the answer, in bytes.
const (
	maxEdited   = 8 << 20
	maxDiff     = 8 << 10
	maxDiffLine = 300
)

type editFile struct{ ws *Workspace }

// EditFile returns the tool edit_file. It makes all its changes or none; what
// they don't name stays byte for byte, line ends, a byte order mark and
// invalid UTF-8 included.
func EditFile(ws *Workspace) FileChanger { return editFile{ws} }

type editArgs struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}

func (editFile) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "edit_file",
		Description: "Change parts of a text file by replacing exact text. Edits are made in order, each on the result of those before it, all or none. " +
			"old must occur exactly once, white space included: give enough of the lines around it, or set all to replace every occurrence. " +
			"Line feeds in old and new stand for the file's own line ends, CRLF too. Answers with a diff.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the work directory"},` +
			`"edits":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","properties":{` +
			`"old":{"type":"string","description":"the text to replace, as it is in the file"},` +
			`"new":{"type":"string","description":"the text to put there"},` +
			`"all":{"type":"boolean","description":"replace every occurrence (default false)"}},` +
			`"required":["old","new"],"additionalProperties":false}}},` +
			`"required":["path","edits"],"additionalProperties":false}`),
	}
}

// Traits: not idempotent, for what an edit brings may contain what it replaces.
// FileChanger tells whether it happened.
func (editFile) Traits() Traits { return Traits{Class: Write} }

// Change returns what the call would do now.
func (t editFile) Change(raw json.RawMessage) (*message.FileChange, error) {
	args, err := decode[editArgs](raw)
	if err != nil {
		return nil, err
	}
	e, err := t.ws.edited(args)
	if err != nil {
		return nil, err
	}
	defer e.place.close()
	return &message.FileChange{Path: e.place.rel, Before: hashOf(e.before), After: hashOf(e.after)}, nil
}

// Hash returns the SHA-256 of a file in hex, "" when it does not exist.
func (t editFile) Hash(path string) (string, error) { return t.ws.hash(path) }

func (t editFile) Run(ctx context.Context, call Call) Result {
	args, err := decode[editArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	t.ws.writes.Lock()
	defer t.ws.writes.Unlock()
	if ctx.Err() != nil {
		return Result{Outcome: Stopped, Text: "stopped before anything was written"}
	}
	e, err := t.ws.edited(args)
	if err != nil {
		return Fail(err.Error())
	}
	defer e.place.close()
	if err := e.save(); err != nil {
		return Fail(fmt.Sprintf("%s: %v", args.Path, reason(err)))
	}
	return Success(e.report())
}

// editedFile is a file and what its edits make of it.
type editedFile struct {
	place         *place
	before, after []byte
	replaced      int
}

// edited reads a file and makes the edits in memory. Its errors are
// observations; without one the caller must close the place.
func (w *Workspace) edited(args editArgs) (*editedFile, error) {
	p, err := w.resolveToChange(args.Path)
	if err != nil {
		return nil, err
	}
	e := &editedFile{place: p}
	if e.before, err = p.content(args.Path); err == nil {
		if e.after, e.replaced, err = applyEdits(e.before, args.Edits); err != nil {
			err = fmt.Errorf("%s: %w; the file was not changed", args.Path, err)
		}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return e, nil
}

// content returns the whole of a file that is small enough to be edited.
func (p *place) content(path string) ([]byte, error) {
	if err := p.regular(path); err != nil {
		return nil, err
	}
	f, err := p.open(os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	case len(data) > maxEdited:
		return nil, fmt.Errorf("%s is larger than %d MiB, too large to be edited", path, maxEdited>>20)
	}
	return data, nil
}

// save replaces the file, if it is still the one that was read.
func (e *editedFile) save() error {
	p := e.place
	if err := p.replaceable(); err != nil {
		return err
	}
	return p.replace(func(f io.Writer) error {
		now, err := p.dir.Lstat(p.base)
		if err != nil {
			return err
		}
		if !os.SameFile(now, p.info) || now.Size() != p.info.Size() || !now.ModTime().Equal(p.info.ModTime()) {
			return errors.New("it was changed just now by someone else; read it again")
		}
		_, err = f.Write(e.after)
		return err
	})
}

// report says what was done, with a diff.
func (e *editedFile) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "edited %s, replacements: %d%s\n", printable(e.place.rel), e.replaced, e.place.split())
	name := printable(e.place.rel)
	text := diff.Diff(name, e.before, name, e.after)
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff a b"
	for rest := text; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		shown := clip(message.Clean(string(line)), maxDiffLine)
		if b.Len()+len(shown) > maxDiff {
			fmt.Fprintf(&b, "[the diff is cut: %d more lines]\n", bytes.Count(rest, []byte("\n")))
			break
		}
		b.WriteString(shown)
		b.WriteByte('\n')
		rest = after
	}
	return b.String()
}
