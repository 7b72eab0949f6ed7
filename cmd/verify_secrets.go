package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// findSecrets looks for secrets in what a session has stored, as they would be
// masked today. It tells where, never what.
func (a *app) findSecrets(store *checkpoint.Store, id string) (checkpoint.Report, error) {
	r := checkpoint.Report{SessionID: id, OK: true, Problems: []checkpoint.Problem{}}
	mask := masker(session.Settings{})
	var failed error
	found := func(format string, args ...any) {
		r.OK = false
		r.Problems = append(r.Problems, checkpoint.Problem{
			Kind: checkpoint.KindSecret, Path: filepath.Join(store.Dir(), id, "events.jsonl"), Offset: -1, Message: fmt.Sprintf(format, args...),
		})
	}
	err := store.Events(a.signals.ctx, id, false, func(e session.Event) {
		text, err := json.Marshal(e.Data)
		if err != nil {
			failed = err
			return
		}
		if mask.MaskReply(string(text)) != string(text) {
			found("event %d (%s) holds a secret", e.Seq, e.Type)
		}
		if res, ok := e.Data.(*session.ToolResult); ok && res.Artifact != nil {
			if whole := readArtifact(store.Artifacts(id), res.Artifact.Ref); mask.MaskReply(whole) != whole {
				found("artifact %s, which event %d names, holds a secret", res.Artifact.Ref, e.Seq)
			}
		}
	})
	if err == nil {
		err = failed
	}
	return r, err
}

// readArtifact returns an artifact as text, "" where it can't be read: that is
// for a verify of another kind to say.
func readArtifact(store *checkpoint.Artifacts, ref string) string {
	f, _, err := store.Open(ref)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
