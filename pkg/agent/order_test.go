package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// see is a tool that reads the file or directory that is its argument.
type see struct{ fake }

func (*see) Reads(args json.RawMessage) string { return arg(args) }

func newSee() *see { return &see{fake{name: "see", traits: tool.Traits{Class: tool.Read}}} }

// course tells in which order the calls of a log began and ended: "0 1" began
// and ended together, "0, 1" one after the other.
func course(l *ledger) string {
	var b strings.Builder
	began := false
	for _, e := range l.events {
		switch d := e.Data.(type) {
		case *session.ToolCall:
			if !began && b.Len() > 0 {
				b.WriteString(",")
			}
			began = true
			fmt.Fprintf(&b, " %d", d.Call.Index)
		case *session.ToolResult:
			began = false
		}
	}
	return strings.TrimSpace(b.String())
}

// As if they ran one after the other: together only where nobody could tell.
func TestCallsThatBuildOnEachOtherKeepTheirOrder(t *testing.T) {
	for calls, want := range map[string]string{
		"put one, see f":                 "0, 1",
		"put one, see .":                 "0, 1",
		"put one, see g, see f":          "0 1, 2",
		"see f, put one":                 "0, 1",
		"see g, put one":                 "0 1",
		"see f/g, put one":               "0, 1", // f may become a file where a directory was
		"see ff, put one":                "0 1",
		"put one, look a":                "0 1", // it looks at no file
		"act a, act b":                   "0 1",
		"put one, act a":                 "0, 1",
		"act a, put one":                 "0, 1",
		"act a, see f":                   "0, 1",
		"see f, see f":                   "0 1",
		"put unrecognisable, see g":      "0, 1",
		"put one, put two":               "0, 1",
		"put one, see f, put two, act a": "0, 1, 2, 3",
		"ghost x, see f, ghost y, see g": "1 3",
		"act a, put refuse":              "0",
	} {
		r := newRig(t, plays(strings.Split(calls, ", ")...), newFile(), newSee(), read("look"), execute("act"))
		r.run("", session.Completed, "")
		check(t, "the course of "+calls, course(r.log), want)
		check(t, "results of "+calls, len(results(r.log)), strings.Count(calls, ",")+1)
	}
}

// demandingFile is a file that can be written once a command has run.
type demandingFile struct {
	*file
	command *fake
}

func (f *demandingFile) Change(args json.RawMessage) (*message.FileChange, error) {
	if len(f.command.keys) == 0 {
		return nil, errors.New("its directory is not there")
	}
	return f.file.Change(args)
}

func TestAWriteIsJudgedWhenTheCommandBeforeItIsDone(t *testing.T) {
	act := execute("act")
	r := newRig(t, plays("act a", "put one"), act, &demandingFile{newFile(), act})
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 ok", "1 ok")
}
