package tool

import (
	"encoding/json"
	"testing"
)

func TestWhatAReadingToolLooksAtIsKnownBeforehand(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "a/文.txt", "x")
	link(t, ws, "a", "l")
	for _, c := range []struct {
		tool Tool
		args obj
		want string
	}{
		{ReadFile(ws, nil), obj{"path": "a/文.txt"}, "a/文.txt"},
		{ReadFile(ws, nil), obj{"path": "l/../l/文.txt"}, "a/文.txt"},
		{ReadFile(ws, nil), obj{"path": ws.Dir() + "/a/new"}, "a/new"},
		{ReadFile(ws, nil), obj{"path": "none/../../etc"}, Everywhere},
		{ReadFile(ws, nil), obj{"path": "artifact:feed"}, ""},
		{ReadFile(ws, nil), obj{"path": 1}, Everywhere},
		{ListFiles(ws), obj{"path": "a"}, "a"},
		{Glob(ws), obj{"pattern": "*"}, Everywhere},
		{Grep(ws), obj{"pattern": "x", "path": "l"}, "a"},
		{Grep(ws), obj{"pattern": "x", "path": "."}, Everywhere},
	} {
		raw, err := json.Marshal(c.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.tool.(FileReader).Reads(raw); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool.Spec().Name, raw, got, c.want)
		}
	}
	if change, err := WriteFile(ws).Change([]byte(`{"path":"l/new","content":""}`)); err != nil || change.Path != "a/new" {
		t.Errorf("a change names %+v (%v)", change, err)
	}
}
