package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// Schema names the event format. A writer refuses a log with another one.
const Schema = "kagent/event/v1"

// Event is one line of the log. Seq counts from 1 without gaps; Epoch is the
// fencing number of the process that wrote it; Scope names where it belongs:
// "" is the session itself.
type Event struct {
	Seq   int64     `json:"seq"`
	Epoch int64     `json:"epoch"`
	Time  time.Time `json:"time"`
	Scope string    `json:"scope"`
	Type  Type      `json:"type"`
	Data  Data      `json:"data"`
}

// Type names a kind of event.
type Type string

// Data is what an event of one kind says.
type Data interface{ Type() Type }

// Unknown is an event of a kind that this version does not know. Readers show
// it; writers refuse a log that holds one, since they could repeat effects.
type Unknown struct {
	Kind Type
	Raw  json.RawMessage
}

// Type returns the kind as it was written.
func (u Unknown) Type() Type { return u.Kind }

// MarshalJSON returns the data as it was read; where there was none, null.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return []byte("null"), nil
	}
	return u.Raw, nil
}

// UnmarshalJSON decodes the data by its kind. A known kind with data that do
// not fit it is an error.
func (e *Event) UnmarshalJSON(b []byte) error {
	type plain Event
	var w struct {
		plain
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Event(w.plain)
	data, known := newData(e.Type)
	if !known {
		e.Data = Unknown{Kind: e.Type, Raw: w.Data}
		return nil
	}
	if err := json.Unmarshal(w.Data, data); err != nil {
		return fmt.Errorf("data of %s: %w", e.Type, err)
	}
	e.Data = data
	return nil
}

// newData returns a pointer to fill, so that decoded and new events have the
// same types: Append takes pointers too.
func newData(t Type) (Data, bool) {
	for _, d := range []Data{
		&Created{}, &Opened{}, &Removed{}, &SettingsChanged{},
		&TurnStart{}, &TurnEnd{}, &StepStart{}, &StepEnd{},
		&UserMessage{}, &RequestHeader{}, &RequestRetried{},
		&AssistantChunk{}, &AssistantMessage{},
		&ToolCall{}, &ToolResult{}, &OutcomeSettled{}, &LogRepaired{}, &Repaired{},
	} {
		if d.Type() == t {
			return d, true
		}
	}
	return nil, false
}
