package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
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
// not fit it is an error, and so is a key in another case, or twice.
func (e *Event) UnmarshalJSON(b []byte) error {
	type plain Event
	var w struct {
		plain
		Data json.RawMessage `json:"data"`
	}
	err := ShapeOf(w).Check(b)
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil {
		return err
	}
	*e = Event(w.plain)
	e.Data, err = DecodeData(e.Type, w.Data)
	return err
}

// DecodeData reads what an event of the kind t says. It keeps nothing of b.
func DecodeData(t Type, b []byte) (Data, error) {
	k, known := kinds[t]
	if !known {
		if len(b) > 0 && !json.Valid(b) { // without any it says null
			return nil, fmt.Errorf("data of %s: not valid JSON", t)
		}
		return Unknown{Kind: t, Raw: bytes.Clone(b)}, nil
	}
	// A pointer, so that decoded and new events have the same types.
	d := reflect.New(k.typ).Interface().(Data)
	err := CheckData(t, b)
	if start := skipSpace(b); len(start) == 0 || start[0] != '{' {
		err = errors.New("not an object")
	}
	if err == nil {
		err = json.Unmarshal(b, d)
	}
	if err != nil {
		return nil, fmt.Errorf("data of %s: %w", t, err)
	}
	return d, nil
}

// CheckData says why what an event of the kind t says must not be decoded, and so
// must not be written: see Shape.Check.
func CheckData(t Type, b []byte) error { return kinds[t].shape.Check(b) }

// kind is what a kind of event says.
type kind struct {
	typ   reflect.Type
	shape *Shape
}

// kinds are all that this version knows.
var kinds = kindsOf(
	&Created{}, &Opened{}, &Removed{}, &SettingsChanged{},
	&TurnStart{}, &TurnEnd{}, &StepStart{}, &StepEnd{},
	&UserMessage{}, &RequestHeader{}, &RequestRetried{},
	&AssistantChunk{}, &AssistantMessage{},
	&ToolCall{}, &ToolResult{}, &OutcomeSettled{}, &LogRepaired{}, &Repaired{},
	&ChildCreated{}, &PlanSet{}, &RouteSet{}, &GraphSet{}, &VerdictGiven{}, &AnswerAdopted{}, &ApprovalGiven{},
	&ContextTrimmed{}, &ContextCompacted{}, &CompactFailed{}, &Forked{}, &Imported{},
)

func kindsOf(all ...Data) map[Type]kind {
	m := map[Type]kind{}
	for _, d := range all {
		m[d.Type()] = kind{reflect.TypeOf(d).Elem(), ShapeOf(d)}
	}
	return m
}

// Kinds returns all kinds of event that this version knows, sorted.
func Kinds() []Type { return slices.Sorted(maps.Keys(kinds)) }
