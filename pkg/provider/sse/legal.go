package sse

import (
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
