package openai

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// streams are whole answers, each in a different dress.
func streams() map[string]string {
	plain := sseOf(`"tool_calls"`,
		`{"role":"assistant","content":null,"reasoning_content":"hm\ud83d"}`, `{"reasoning_content":"\ude00"}`,
		`{"content":"Grüße \ud83d"}`, `{"content":"\ude00!"}`,
		toolCalls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
		toolCalls(`{"index":0,"function":{"arguments":"{\"path\":"}}`),
		toolCalls(`{"index":1,"id":"b","function":{"name":"pwd","arguments":null}}`),
		toolCalls(`{"index":0,"function":{"arguments":"\"1\"}"}}`))
	withUsage := strings.Replace(plain, "data: [DONE]", `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`+"\n\ndata: [DONE]", 1)
	bare := strings.ReplaceAll(plain, "\n\n", "\n")
	return map[string]string{
		"plain": plain, "usage": withUsage,
		"CRLF": strings.ReplaceAll(withUsage, "\n", "\r\n"), "CR": strings.ReplaceAll(withUsage, "\n", "\r"),
		"no blank lines": bare,
		"several lines":  strings.ReplaceAll(plain, `,"delta"`, ",\ndata: \"delta\""),
		"comments":       "\ufeff" + strings.ReplaceAll(plain, "\n\n", "\n: x\n\nevent: y\n\n"),
		"no [DONE]":      strings.TrimSuffix(plain, "data: [DONE]\n\n"),
		"no finish":      sseOf("null", `{"content":"four"}`),
		"whole":          `{"choices":[{"index":0,"message":{"content":"four","tool_calls":[{"id":"a","function":{"name":"pwd","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}`,
	}
}

// F067: an answer cut anywhere, in any way, is either the whole answer (only
// the token count may be missing) or an error; never a part of it.
func TestAStreamCutAnywhereIsNeverAPartOfTheAnswer(t *testing.T) {
	for name, body := range streams() {
		whole, err := decodeAll(t, 200, nil, strings.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range len(body) {
			for how, end := range map[string]io.Reader{
				"end":   strings.NewReader(""),
				"close": iotest.ErrReader(io.ErrUnexpectedEOF),
				"reset": iotest.ErrReader(errors.New("read: connection reset by peer")),
			} {
				reply, err := decodeAll(t, 200, nil, io.MultiReader(strings.NewReader(body[:n]), end))
				if err != nil {
					if e := failed(t, err); e.Kind != provider.Network {
						t.Fatalf("%s cut at %d by %s: %v", name, n, how, err)
					}
					continue
				}
				if reply.Usage == (message.Usage{}) {
					reply.Usage = whole.Usage
				}
				if !reflect.DeepEqual(reply, whole) {
					t.Fatalf("%s cut at %d by %s, after %q: %v, want %v", name, n, how, body[max(0, n-30):n], reply, whole)
				}
			}
		}
	}
}
