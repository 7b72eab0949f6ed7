package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"kagent/pkg/message"
)

// maxRead bounds the text that one read_file call brings, in bytes.
const maxRead = 256 << 10

type readFile struct {
	ws       *Workspace
	artifact OpenArtifact
}

// ReadFileName is the tool that can read artifacts too.
const ReadFileName = "read_file"

// ReadFile returns the tool read_file. Nothing of a file is held but the part
// that is shown, at most 256 KiB; what is not a regular file is refused. What
// was kept of large results is read by artifact; nil: there is nothing.
func ReadFile(ws *Workspace, artifact OpenArtifact) Tool { return readFile{ws, artifact} }

type readArgs struct {
	Path   string `json:"path"`
	Offset count  `json:"offset"`
	Limit  count  `json:"limit"`
}

func (readFile) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: ReadFileName,
		Description: "Read a text file. Returns its content as it is, without line numbers, at most 256 KiB; " +
			"a note in brackets at the end says when something was left out and how to read on.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the work directory; or artifact:HASH, as a shortened result names it"},` +
			`"offset":{"type":"integer","minimum":1,"description":"first line to read, counted from 1 (default 1)"},` +
			`"limit":{"type":"integer","minimum":1,"description":"number of lines to read (default: as many as fit)"}},` +
			`"required":["path"],"additionalProperties":false}`),
	}
}

func (readFile) Traits() Traits { return Traits{Class: Read} }

func (t readFile) Run(ctx context.Context, call Call) Result {
	args, err := decode[readArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	f, size, err := t.open(args.Path)
	if err != nil {
		return Fail(err.Error())
	}
	defer f.Close()
	first := max(int64(args.Offset), 1)
	r := bufio.NewReaderSize(untilDone{ctx, f}, 64<<10)
	skipped, lines, err := skipLines(r, first-1)
	if errors.Is(err, io.EOF) {
		return Fail(fmt.Sprintf("offset %d is past the end: %s has %d lines", first, args.Path, lines))
	}
	var p page
	if err == nil {
		p, err = readPage(r, int64(args.Limit))
	}
	switch {
	case ctx.Err() != nil:
		return Result{Outcome: Stopped, Text: "stopped while reading"}
	case err != nil:
		return Fail(fmt.Sprintf("%s: %v", args.Path, reason(err)))
	}
	return p.result(first, size-skipped)
}

// open opens what a path names for reading. Its errors are observations.
func (t readFile) open(path string) (io.ReadCloser, int64, error) {
	if strings.HasPrefix(path, artifactPath) {
		return t.openArtifact(path)
	}
	f, info, err := t.ws.openFile(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// openFile opens a regular file for reading. Its errors are observations.
func (w *Workspace) openFile(path string) (*os.File, os.FileInfo, error) {
	p, err := w.resolve(path)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	if err := p.regular(path); err != nil {
		return nil, nil, err
	}
	f, err := p.open(os.O_RDONLY)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	return f, info, nil
}

// open opens the place's file and makes sure that it is the one that was seen.
// A pipe that took its place meanwhile does not block: O_NONBLOCK.
func (p *place) open(flag int) (*os.File, error) {
	f, err := p.dir.OpenFile(p.base, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(p.info, now) {
		f.Close()
		return nil, errors.New("it was replaced just now")
	}
	return f, nil
}

// regular returns an observation when the place is not a regular file.
func (p *place) regular(path string) error {
	if p.info == nil {
		if len(p.missing) == 1 {
			return fmt.Errorf("%s does not exist", path)
		}
		dir := strings.TrimSuffix(p.rel, "/"+strings.Join(p.missing[1:], "/"))
		return fmt.Errorf("%s does not exist, nor does the directory %s", path, dir)
	}
	switch mode := p.info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a directory; list_files shows what is in it", path)
	default:
		return fmt.Errorf("%s is not a regular file but a %s", path, kindOf(mode))
	}
}

// kindOf names what is neither a regular file nor a directory.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
