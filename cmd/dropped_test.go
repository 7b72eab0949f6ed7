package cmd

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// wild is a tool whose schema no service takes as it is.
type wild struct{}

func (wild) Spec() message.ToolSpec {
	return message.ToolSpec{Name: "wild", Schema: json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^x","not":{"const":"xx"}},"b":{"type":"integer"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`)}
}
func (wild) Traits() tool.Traits                        { return tool.Traits{Class: tool.Read} }
func (wild) Run(context.Context, tool.Call) tool.Result { return tool.Success("") }

func TestEveryServiceCanBeToldOfTheBuiltInTools(t *testing.T) {
	a := &app{dir: t.TempDir(), signals: &signals{}, orphans: func() *tool.Orphans { return nil }}
	set, err := a.toolSet(session.Settings{Workdir: t.TempDir()}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range catalogue.Protocols() {
		if lost := adapterOf(protocol).dropped(set.Specs()); len(lost) > 0 {
			t.Errorf("%s: %q", protocol, lost)
		}
		if lost := adapterOf(protocol).dropped([]message.ToolSpec{wild{}.Spec()}); len(lost) == 0 {
			t.Errorf("%s loses nothing of a wild schema", protocol)
		}
	}
}

// What is lost of a schema is told once, for each model of a chain.
func TestWhatASchemaLosesIsWarnedOfOnce(t *testing.T) {
	set, err := tool.NewSet(wild{})
	if err != nil {
		t.Fatal(err)
	}
	said := &strings.Builder{}
	turn := &turn{app: &app{stderr: said}, tools: set}
	for range 3 {
		turn.notice("", &session.RequestHeader{Model: "anthropic/a,openai/b,demo", Tools: []string{"wild", "plan"}})
		turn.notice("", &session.RequestHeader{Model: "gemini/c", Tools: []string{}})
	}
	all := strings.Join(turn.result.Warnings, "\n")
	if len(turn.result.Warnings) != 2 || !strings.Contains(all, "anthropic/a can't be told") || !strings.Contains(all, "openai/b can't be told all of the arguments of a tool: wild: ") {
		t.Errorf("warnings %q", turn.result.Warnings)
	}
	if strings.Count(said.String(), "warning: ") != 2 {
		t.Errorf("said %q", said)
	}
}
