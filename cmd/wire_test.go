package cmd

import (
	"testing"

	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// What the flags know of the tools is what the tools are.
func TestToolClassesAreThoseOfTheTools(t *testing.T) {
	a := &app{dir: t.TempDir(), signals: &signals{}, orphans: func() *tool.Orphans { return nil }}
	set, err := a.toolSet(session.Settings{Workdir: t.TempDir()}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(set.Names()), len(toolClasses()); got != want {
		t.Errorf("%d tools, the table has %d", got, want)
	}
	for _, want := range toolClasses() {
		if got, ok := set.Lookup(want.name); !ok || got.Traits().Class != want.class {
			t.Errorf("%s: not a tool of the class %s", want.name, want.class)
		}
	}
}
