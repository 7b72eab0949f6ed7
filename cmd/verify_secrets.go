package cmd

import (
	"encoding/json"
	"fmt"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// findSecrets looks for secrets in what a session has stored, as they would be
// masked today. It tells where, never what.
func (a *app) findSecrets(store *checkpoint.Store, id string) (checkpoint.Report, error) {
	r := checkpoint.Report{SessionID: id, OK: true, Problems: []checkpoint.Problem{}}
	mask := masker(session.Settings{})
	var failed error
	err := store.Events(a.signals.ctx, id, false, func(e session.Event) {
		text, err := json.Marshal(e.Data)
		if err != nil {
			failed = err
			return
		}
		if mask.Mask(string(text)) == string(text) {
			return
		}
		r.OK = false
		r.Problems = append(r.Problems, checkpoint.Problem{
			Kind: checkpoint.KindSecret, Path: store.Path(id), Offset: -1, Message: fmt.Sprintf("event %d (%s) holds a secret", e.Seq, e.Type),
		})
	})
	if err == nil {
		err = failed
	}
	return r, err
}
