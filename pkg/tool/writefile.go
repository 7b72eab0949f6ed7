package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"kagent/pkg/message"
)

// maxHashed bounds the files whose hash is taken, in bytes: a change to a
// larger one can't be recognised later. It is about a second's work.
const maxHashed = 256 << 20

type writeFile struct{ ws *Workspace }

// WriteFile returns the tool write_file. A file is whole at every moment, old
// or new, and the new one is durable when the call returns.
func WriteFile(ws *Workspace) FileChanger { return writeFile{ws} }

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (writeFile) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "write_file",
		Description: "Create a file or replace its whole content. Missing parent directories are created. " +
			"The content is written exactly as given: end it with a newline if the file should end with one.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the work directory"},` +
			`"content":{"type":"string","description":"the whole new content"}},` +
			`"required":["path","content"],"additionalProperties":false}`),
	}
}

// Traits: a write is not idempotent, for someone may have changed the file
// since. FileChanger tells whether it happened.
func (writeFile) Traits() Traits { return Traits{Class: Write} }

// Change returns what the call would do now; nil when the present file is too
// large to be hashed.
func (t writeFile) Change(raw json.RawMessage) (*message.FileChange, error) {
	args, err := decode[writeArgs](raw)
	if err != nil {
		return nil, err
	}
	p, err := t.ws.resolveToChange(args.Path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	before, err := p.hash(args.Path)
	if errors.Is(err, errTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &message.FileChange{Path: p.rel, Before: before, After: hashOf([]byte(args.Content))}, nil
}

// Hash returns the SHA-256 of a file in hex, "" when it does not exist.
func (t writeFile) Hash(path string) (string, error) { return t.ws.hash(path) }

func (w *Workspace) hash(path string) (string, error) {
	p, err := w.resolve(path)
	if err != nil {
		return "", err
	}
	defer p.close()
	h, err := p.hash(path)
	if err == nil && p.info != nil {
		// Who made it may have been killed before it was durable.
		err = p.settle()
	}
	return h, err
}

// settle makes the place, which exists, and the names that lead to it durable.
func (p *place) settle() error {
	f, err := p.open(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := reason(f.Sync()); err != nil {
		return err
	}
	return p.settleNames()
}

// settleNames makes the directories that lead to the place durable, each in
// its parent: one that was there already may have been made by a process that
// was killed before its sync.
func (p *place) settleNames() error {
	root, err := p.ws.open()
	if err != nil {
		return err
	}
	defer root.Close()
	for dir := filepath.Dir(filepath.FromSlash(p.rel)); ; dir = filepath.Dir(dir) {
		d, err := root.Open(dir)
		if err != nil {
			return err
		}
		err = reason(d.Sync())
		d.Close()
		if err != nil || dir == "." {
			return err
		}
	}
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

var errTooLarge = errors.New("the file is too large to take its hash")

func (p *place) hash(path string) (string, error) {
	if p.info == nil {
		return "", nil
	}
	if err := p.regular(path); err != nil {
		return "", err
	}
	if p.info.Size() > maxHashed {
		return "", errTooLarge
	}
	f, err := p.open(os.O_RDONLY)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, reason(err))
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxHashed+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, reason(err))
	}
	if n > maxHashed { // it grew, or lied about its size as some in /proc do
		return "", errTooLarge
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (t writeFile) Run(ctx context.Context, call Call) Result {
	args, err := decode[writeArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	t.ws.writes.Lock()
	defer t.ws.writes.Unlock()
	if ctx.Err() != nil {
		return Result{Outcome: Stopped, Text: "stopped before anything was written"}
	}
	p, err := t.ws.resolveToChange(args.Path)
	if err != nil {
		return Fail(err.Error())
	}
	defer p.close()
	done, err := p.write(args)
	if err != nil {
		return Fail(fmt.Sprintf("%s: %v", args.Path, reason(err)))
	}
	return Success(done)
}

// write puts the content in place and returns what it did.
func (p *place) write(args writeArgs) (string, error) {
	done := fmt.Sprintf("created %s, %d bytes", p.rel, len(args.Content))
	if p.info == nil {
		if err := p.makeParents(); err != nil {
			return "", err
		}
	} else {
		if err := p.replaceable(); err != nil {
			return "", err
		}
		done = fmt.Sprintf("replaced %s, %d bytes (%d before)%s", p.rel, len(args.Content), p.info.Size(), p.split())
	}
	return done, p.replace(func(f io.Writer) error {
		_, err := io.WriteString(f, args.Content)
		return err
	})
}

// replace makes the place a file with the content that write gives, durably.
func (p *place) replace(write func(io.Writer) error) error {
	if err := replaceFile(p.dir, p.base, p.info, write); err != nil {
		return err
	}
	return p.settleNames()
}

// split says that the file has further names: they keep the old content, see
// doc.go.
func (p *place) split() string {
	info, ok := p.info.Sys().(*syscall.Stat_t)
	if !ok || info.Nlink < 2 {
		return ""
	}
	return fmt.Sprintf("; it was hard-linked: its other names (%d) keep the old content", info.Nlink-1)
}

// replaceable returns why what exists at the place must not be replaced.
func (p *place) replaceable() error {
	switch mode := p.info.Mode(); {
	case mode.IsDir():
		return errors.New("it is a directory")
	case !mode.IsRegular():
		return fmt.Errorf("it is not a regular file but a %s", kindOf(mode))
	}
	// A rename would get around the protection of a read-only file.
	f, err := p.open(os.O_WRONLY)
	if errors.Is(err, fs.ErrPermission) {
		return errors.New("the file is write-protected")
	}
	if err == nil {
		f.Close()
	}
	return nil
}

// makeParents creates the directories that the place lacks and moves the place
// into the last of them. Each is made durable in its parent.
func (p *place) makeParents() error {
	for len(p.missing) > 1 {
		name := p.missing[0]
		if err := p.dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("can't create the directory %s: %w", name, reason(err))
		}
		if err := syncDir(p.dir); err != nil {
			return err
		}
		info, err := p.dir.Lstat(name)
		if err != nil {
			return err
		}
		next, err := enter(p.ws, p.dir, name, info)
		if err != nil {
			return err
		}
		p.dir.Close()
		p.dir, p.missing = next, p.missing[1:]
	}
	p.base = filepath.Base(p.missing[0])
	return nil
}
