package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"kagent/pkg/message"
)

// Bounds of one list_files call: entries shown, entries looked at, depth.
const (
	maxShown   = 1000
	maxScanned = 1_000_000
	maxDepth   = 20
)

type listFiles struct{ ws *Workspace }

// ListFiles returns the tool list_files. It holds a few thousand names at a
// time however large the directory is, and follows no links.
func ListFiles(ws *Workspace) Tool { return listFiles{ws} }

type listArgs struct {
	Path  string `json:"path"`
	Depth count  `json:"depth"`
}

func (listFiles) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "list_files",
		Description: "List a directory, one entry a line, sorted by name, hidden files included. Directories end with /, " +
			"links are shown as name -> target and not followed, files have their size in bytes. At most 1000 entries.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","minLength":1,"description":"the directory, relative to the work directory, which is \".\""},` +
			`"depth":{"type":"integer","minimum":1,"maximum":` + strconv.Itoa(maxDepth) +
			`,"description":"levels to list; 1 (the default) is the directory alone"}},` +
			`"required":["path"],"additionalProperties":false}`),
	}
}

func (listFiles) Traits() Traits { return Traits{Class: Read} }

func (t listFiles) Run(ctx context.Context, call Call) Result {
	args, err := decode[listArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	p, err := t.ws.resolve(args.Path)
	if err != nil {
		return Fail(err.Error())
	}
	defer p.close()
	if p.info == nil || !p.info.IsDir() {
		return Fail(notDirectory(p, args.Path))
	}
	l := &listing{ctx: ctx, ws: t.ws, root: p.dir}
	err = l.collect(min(max(int(args.Depth), 1), maxDepth))
	switch {
	case ctx.Err() != nil:
		return Result{Outcome: Stopped, Text: "stopped while listing"}
	case err != nil:
		return Fail(fmt.Sprintf("%s: %v", args.Path, reason(err)))
	}
	return Success(l.text())
}

// notDirectory is the observation for a place that can't be entered.
func notDirectory(p *place, path string) string {
	if p.info == nil {
		return p.regular(path).Error()
	}
	return path + " is not a directory"
}
