package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kagent/pkg/message"
)

type applyPatch struct{ ws *Workspace }

// ApplyPatch returns the tool apply_patch. What a patch says of several files is
// checked for all of them before the first is written. After a crash a patch of
// one file is known by that file; what became of one of several is not.
func ApplyPatch(ws *Workspace) FileChanger { return applyPatch{ws} }

type patchArgs struct {
	Patch string `json:"patch"`
}

func (applyPatch) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "apply_patch",
		Description: "Apply a unified diff (lines --- a/PATH, +++ b/PATH, @@ -LINE,COUNT +LINE,COUNT @@, then lines that begin with a blank, - or +). " +
			"It may change, create (--- /dev/null) and delete (+++ /dev/null) several files; all of it applies or nothing. " +
			"The lines have to be in the file as they are, blanks included; where they stand is found if the numbers are off.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"patch":{"type":"string","minLength":1,"description":"the unified diff"}},` +
			`"required":["patch"],"additionalProperties":false}`),
	}
}

func (applyPatch) Traits() Traits { return Traits{Class: Write} }

// Change returns what the call would do now; nil when it concerns several files.
func (t applyPatch) Change(raw json.RawMessage) (*message.FileChange, error) {
	patched, err := t.prepare(raw)
	defer closeAll(patched)
	if err != nil || len(patched) != 1 {
		return nil, err
	}
	p := patched[0]
	c := &message.FileChange{Path: p.place.rel}
	if !p.create {
		c.Before = hashOf(p.before)
	}
	if !p.remove {
		c.After = hashOf(p.after)
	}
	return c, nil
}

// Hash returns the SHA-256 of a file in hex, "" when it does not exist.
func (t applyPatch) Hash(path string) (string, error) { return t.ws.hash(path) }

func (t applyPatch) Run(ctx context.Context, call Call) Result {
	t.ws.writes.Lock()
	defer t.ws.writes.Unlock()
	if ctx.Err() != nil {
		return Result{Outcome: Stopped, Text: "stopped before anything was written"}
	}
	patched, err := t.prepare(call.Args)
	defer closeAll(patched)
	if err != nil {
		return Fail(err.Error())
	}
	var done []string
	for _, p := range patched {
		said, err := p.save()
		if err != nil {
			if text := fmt.Sprintf("%s: %v", printable(p.place.rel), reason(err)); len(done) == 0 {
				return Fail(text)
			} else {
				return Fail(text + "; done before that: " + strings.Join(done, ", "))
			}
		}
		done = append(done, said)
	}
	return Success(strings.Join(done, "\n"))
}

// patchedFile is a file and what a patch makes of it.
type patchedFile struct {
	filePatch
	editedFile
}

// prepare reads the files that a patch concerns and applies it in memory. Its
// errors are observations. The caller must close what it returns, also with an
// error.
func (t applyPatch) prepare(raw json.RawMessage) ([]*patchedFile, error) {
	args, err := decode[patchArgs](raw)
	if err != nil {
		return nil, err
	}
	files, err := parsePatch(args.Patch)
	if err != nil {
		return nil, fmt.Errorf("the patch: %w", err)
	}
	var out []*patchedFile
	for _, f := range files {
		p, err := t.ws.resolveToChange(f.path)
		if err != nil {
			return out, err
		}
		file := &patchedFile{filePatch: f, editedFile: editedFile{place: p, replaced: len(f.changes)}}
		out = append(out, file)
		if err := file.load(); err != nil {
			return out, fmt.Errorf("%s: %w; nothing was changed", printable(f.path), err)
		}
	}
	return out, nil
}

// load reads the file and applies the patch to what is there.
func (p *patchedFile) load() (err error) {
	switch {
	case p.create && p.place.info != nil:
		return errors.New("the patch creates it, and it is there")
	case !p.create && p.place.info == nil:
		return errors.New("there is no such file")
	case !p.create:
		if p.before, err = p.place.content(p.path); err != nil {
			return err
		}
	}
	if p.after, err = p.apply(p.before); err != nil {
		return err
	}
	switch {
	case len(p.after) > maxEdited:
		return fmt.Errorf("it would be larger than %d MiB", maxEdited>>20)
	case p.remove && len(p.changes) > 0 && len(p.after) > 0:
		return errors.New("the patch deletes it, and it holds more than the patch says")
	}
	return nil
}

// save does what the patch says, durably, and says it.
func (p *patchedFile) save() (string, error) {
	switch {
	case p.create:
		if err := p.place.makeParents(); err != nil {
			return "", err
		}
		err := p.place.replace(func(w io.Writer) error { _, err := w.Write(p.after); return err })
		return fmt.Sprintf("created %s, %d bytes", printable(p.place.rel), len(p.after)), err
	case p.remove:
		if err := p.place.replaceable(); err != nil {
			return "", err
		}
		if err := p.place.dir.Remove(p.place.base); err != nil {
			return "", err
		}
		return "deleted " + printable(p.place.rel), syncDir(p.place.dir)
	}
	if err := p.editedFile.save(); err != nil {
		return "", err
	}
	return p.report(), nil
}

func closeAll(files []*patchedFile) {
	for _, f := range files {
		f.place.close()
	}
}
