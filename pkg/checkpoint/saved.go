package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// saved is a checkpoint with all that a repair can take from it.
type saved struct {
	head
	Messages []chatMessage `json:"messages"`
}

// load reads the checkpoint, as far as it can be read, and tells whether there
// is one.
func (v *salvage) load(fsys FS, name string, limit int64) (p promise, known bool, err error) {
	b, h, err := readCheckpoint(fsys, name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, false, nil
	case unread(err):
		return p, false, storage("read "+name, err)
	}
	var all saved
	if err == nil && json.Unmarshal(b, &all) == nil {
		v.saved = &all
	}
	return h.Log, true, nil
}

// created is the first event of a session whose own was lost, as far as the
// checkpoint tells. What it doesn't hold is as careful as can be: nothing but
// the tools that were offered, and the defaults.
func (c *saved) created(id string) session.Event {
	d := &session.Created{Schema: session.Schema, ID: id, Task: c.task(), Settings: c.settings(careful())}
	return session.Event{Epoch: 1, Time: c.Metadata.CreatedAt, Type: d.Type(), Data: d}
}

// careful are the settings of a session of which nothing else is known: nothing
// is allowed, and the rest is as by default.
func careful() session.Settings {
	return session.Settings{
		OnUnknown: "tell", Retries: 5, RetryMaxWait: session.Duration(time.Minute),
		StepTimeout: session.Duration(10 * time.Minute), IdleTimeout: session.Duration(2 * time.Minute),
	}
}

// settings are s with all that the checkpoint tells of them.
func (c *saved) settings(s session.Settings) session.Settings {
	s.Agent, s.System = c.AgentType, c.SystemPrompt
	s.Model, s.Workdir, s.Limits = c.Settings.Model, c.Settings.Workdir, c.Settings.Limits
	if !slices.Equal(s.Tools, c.Settings.Tools) {
		s.Tools = c.Settings.Tools
	}
	return s
}

// task is what the user had said first: whole if it is still among the
// messages, else its beginning.
func (c *saved) task() string {
	for _, m := range c.Messages {
		if m.Role == message.User && cut(m.Content, 200) == c.Metadata.Input {
			return m.Content
		}
	}
	return c.Metadata.Input
}
