package providertest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// values reads JSON values one after the other.
func values(body string) (events []Event) {
	for dec := json.NewDecoder(strings.NewReader(body)); ; {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return events
		}
		events = append(events, Event{Data: string(raw)})
	}
}

// unframed reads a stream as servers write it.
func unframed(body string) (events []Event) {
	for block := range strings.SplitSeq(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		var e Event
		for line := range strings.SplitSeq(block, "\n") {
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				e.Data += strings.TrimSpace(data)
			} else if kind, ok := strings.CutPrefix(line, "event:"); ok {
				e.Type = strings.TrimSpace(kind)
			}
		}
		if e.Data != "" {
			events = append(events, e)
		}
	}
	return events
}

// sorted returns JSON in one form.
func sorted(args string) string {
	v, ok := parsed(args)
	if !ok {
		return args
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

func parsed(data string) (v any, ok bool) {
	dec := json.NewDecoder(strings.NewReader(data))
	dec.UseNumber()
	err := dec.Decode(&v)
	_, object := v.(map[string]any)
	return v, err == nil && object
}

// places are the paths of all values in v but itself.
func places(v any, at []any) (list [][]any) {
	add := func(key, value any) {
		path := append(slices.Clone(at), key)
		list = append(list, path)
		if !slices.Contains([]any{"args", "arguments", "input"}, key) { // what is in those is the model's, not the protocol's
			list = append(list, places(value, path)...)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			add(key, v[key])
		}
	case []any:
		for i, e := range v {
			add(i, e)
		}
	}
	return list
}

func lookup(v any, at []any) any {
	for _, key := range at {
		if i, ok := key.(int); ok {
			v = v.([]any)[i]
		} else {
			v = v.(map[string]any)[key.(string)]
		}
	}
	return v
}

// put returns a copy of v with another value at a place.
func put(v any, at []any, value any) any { return change(v, at, value, false) }

// remove returns a copy of v without the value at a place.
func remove(v any, at []any) any { return change(v, at, nil, true) }

func change(v any, at []any, value any, away bool) any {
	raw, _ := json.Marshal(v)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	dec.Decode(&v)
	last := len(at) - 1
	switch parent := lookup(v, at[:last]).(type) {
	case map[string]any:
		parent[at[last].(string)] = value
		if away {
			delete(parent, at[last].(string))
		}
	case []any:
		parent[at[last].(int)] = value // an element that is away leaves a hole
	}
	return v
}
