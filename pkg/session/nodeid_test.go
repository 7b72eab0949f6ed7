package session_test

import (
	"strings"
	"testing"

	"kagent/pkg/session"
)

func TestNodeIDsNameChildren(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "fetch-2_x.y": true, "读取": true, "٣": true, strings.Repeat("读", 64): true,
		"": false, "a b": false, "a/b": false, "../x": false, "a\n": false, "\xff": false, "🙂": false, strings.Repeat("a", 65): false,
	} {
		if got := session.LegalNodeID(id); got != want {
			t.Errorf("%q is legal: %v", id, got)
		}
		made := session.NodeIDOf(id)
		if made != "" && len(id) <= 64 && !session.LegalNodeID(made) {
			t.Errorf("%q became %q", id, made)
		}
	}
	for id, want := range map[string]string{"a b/c": "a-b-c", " 读 取! ": "读-取", "../x": "x", "🙂": "", "-a-": "a"} {
		if got := session.NodeIDOf(id); got != want {
			t.Errorf("%q became %q, want %q", id, got, want)
		}
	}
}
