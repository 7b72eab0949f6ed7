package tool

import (
	"encoding/json"
	"strings"
)

// Everywhere is the work directory itself, and so everything in it.
const Everywhere = "."

// FileReader is a tool that tells beforehand what it looks at, so that calls of
// one reply which build on each other keep their order.
type FileReader interface {
	Tool
	// Reads returns a file, or a directory with all below it, as FileChange names
	// it; Everywhere where that is not known, "" for nothing of the work directory.
	Reads(args json.RawMessage) string
}

// Reads is what the tool looks at.
func (t readFile) Reads(raw json.RawMessage) string {
	args, err := decode[readArgs](raw)
	if err == nil && strings.HasPrefix(args.Path, artifactPath) {
		return ""
	}
	return t.ws.named(args.Path, err)
}

// Reads is what the tool looks at.
func (t listFiles) Reads(raw json.RawMessage) string {
	args, err := decode[listArgs](raw)
	return t.ws.named(args.Path, err)
}

// Reads is what the tool looks at.
func (t glob) Reads(raw json.RawMessage) string {
	args, err := decode[globArgs](raw)
	return t.ws.named(args.Path, err)
}

// Reads is what the tool looks at.
func (t grep) Reads(raw json.RawMessage) string {
	args, err := decode[grepArgs](raw)
	return t.ws.named(args.Path, err)
}

// named returns where a path leads, links followed; Everywhere if that can't be
// said.
func (w *Workspace) named(path string, err error) string {
	if err != nil || path == "" {
		return Everywhere
	}
	p, err := w.resolve(path)
	if err != nil {
		return Everywhere
	}
	defer p.close()
	return p.rel
}
