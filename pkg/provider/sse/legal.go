package sse

import (
	"bytes"
	"encoding/json"
	"strings"

	"kagent/pkg/message"
)

// LegalName makes the name of a call fit ^[a-zA-Z0-9_-]{1,64}$. Models invent
// names that the service would not take back.
func LegalName(name string) string {
	if name == "" {
		return "unknown"
	}
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 64)]
}

// LegalArguments returns args if they are a JSON object, else an empty one:
// the result that follows has told the model what was wrong with them.
func LegalArguments(args string) string {
	args = message.Clean(args)
	if trimmed := strings.TrimSpace(args); !strings.HasPrefix(trimmed, "{") || !json.Valid([]byte(trimmed)) {
		return "{}"
	}
	return message.CleanEscapes(args)
}

// Arguments returns the arguments of a call that came as a JSON value, without
// white space between tokens. None at all, or null, is what models write for a
// tool without parameters: {}. An object in a string is taken out of it, even
// half a one; anything else stays what it is: whoever runs tools refuses it.
func Arguments(raw json.RawMessage) string {
	if IsNull(raw) {
		return "{}"
	}
	var s string
	if IsString(raw) && json.Unmarshal(raw, &s) == nil {
		switch s = strings.TrimSpace(message.Clean(s)); {
		case s == "" || s == "null":
			return "{}"
		case s[0] == '{':
			return s
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return message.Clean(string(raw)) // can't happen: it was valid
	}
	return message.Clean(b.String())
}
