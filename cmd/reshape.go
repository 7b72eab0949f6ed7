package cmd

import (
	"bytes"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// reshape holds the answer of a completed session against a schema that is given
// anew. One that the answer fits is the session's from here on.
func (a *app) reshape(store *checkpoint.Store, s *session.State, flags *settingFlags, given func(string) bool) error {
	if !given("output-schema") {
		return nil
	}
	now := s.Settings
	if err := flags.readSchema(&now); err != nil {
		return err
	}
	if bytes.Equal(now.OutputSchema, s.Settings.OutputSchema) {
		return nil
	}
	if err := fitsAnew(s, now); err != nil {
		return err
	}
	j, _, err := store.Open(s.ID, func(there *session.State) error {
		now = there.Settings
		if err := flags.readSchema(&now); err != nil {
			return err
		}
		return fitsAnew(there, now)
	})
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Append("", &session.SettingsChanged{Settings: now}); err != nil {
		return err
	}
	s.Settings = now
	return j.Commit()
}

// fitsAnew refuses other settings where the session's answer does not fit their
// schema.
func fitsAnew(s *session.State, now session.Settings) error {
	if len(now.OutputSchema) == 0 {
		return nil
	}
	judged := *s
	judged.Settings = now
	if _, wrong := agent.Data(&judged); wrong != "" {
		return usageErrorf("give a prompt to have it made again: kagent resume "+s.ID+" 'PROMPT' --output-schema FILE",
			"--output-schema: session %s is completed, and its answer does not fit: %s", s.ID, oneLine(wrong, 300))
	}
	return nil
}

// checkStoredSchema refuses to go on with a session whose schema no answer can be
// held against: an older version took some that this one does not.
func checkStoredSchema(id string, s session.Settings) error {
	if len(s.OutputSchema) == 0 {
		return nil
	}
	if _, err := tool.NewSchema(s.OutputSchema); err != nil {
		return usageErrorf("give another with --output-schema FILE, or --output-schema '' for none", "the output schema of session %s: %s", id, oneLine(err.Error(), 300))
	}
	return nil
}
