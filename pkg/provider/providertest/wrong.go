package providertest

import "kagent/pkg/provider"

// maxWrong is how many cases of the collection may be listed as wrong.
const maxWrong = 5

// wrongCases are recorded answers of which the collection expects what their
// bytes don't say, by id, with the bytes that show it.
func wrongCases() map[string]string {
	return map[string]string{
		// The service explains its refusal; the collection leaves that out.
		"anthropic-messages.anthropic.stream.38f204ca95": `"explanation":"This request triggered restrictions on violative cyber content and was blocked`,
		// {"name":"read_screen","willContinue":true}, then {"partialArgs":[{"jsonPath":"$.id","stringValue":"A",
		// "willContinue":true}],"willContinue":true} and {}: pieces of one call, expected to be 13 calls without arguments.
		"gemini.gemini.stream.0e47ca9a0d": `"partialArgs":[{"jsonPath":"$.id","stringValue":"A","willContinue":true}]`,
	}
}

// wrongError is a recorded error that we judge otherwise than the collection.
type wrongError struct {
	kind  provider.Kind
	bytes string // that show it
}

func wrongErrors() map[string]wrongError {
	return map[string]wrongError{
		// A limit of tokens a minute, and a wait of 48 s: waiting helps, as with
		// err-150, which has the same words and is a rate_limit.
		"err-022": {provider.RateLimit, "InputTokensPerModelPerMinute"},
	}
}

// unsure lists cases with a field that is compared in all others of its
// protocol: here the collection is right to call it ambiguous.
func unsure() map[string]string {
	return map[string]string{
		// An object where a text belongs, as JSON was asked for: nothing, or the JSON.
		"openai-chat.cloudflare.json.d14dbf7219": "text",
	}
}

// sure lists fields of a protocol that are compared although the collection
// calls them ambiguous.
func sure(protocol string) []string {
	switch protocol {
	case "openai-chat":
		return []string{"text"}
	case "gemini":
		return []string{"text", "usage.output_tokens"}
	case "ollama":
		return []string{"text", "reasoning"}
	}
	return nil
}
