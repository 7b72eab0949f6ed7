package responses

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// F038: a conversation is not lost with thoughts that the service can't decrypt
// any more, and they are refused once only: the reply says so, after it none are sent.
func TestThoughtsThatAreRefusedAreNotSentAgain(t *testing.T) {
	for name, refusal := range map[string]string{
		"by code":    `{"error":{"code":"invalid_encrypted_content","message":"could not verify"}}`,
		"by message": `{"error":{"code":null,"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed."}}`,
	} {
		var bodies []string
		client := open(t, func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, string(body))
			if strings.Contains(string(body), `"type":"reasoning"`) {
				return providertest.Answered(r, 400, refusal), nil
			}
			return providertest.Answered(r, 200, hi), nil
		})
		said := say(message.Assistant,
			message.Part{Type: message.TypeReasoning, Opaque: []byte(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed-old"}`)},
			message.Part{Type: message.TypeText, Text: "well", Opaque: opaque{ID: "msg_1"}.sealed()})
		said.Model = "openai-responses/m"
		req := provider.Request{Messages: []message.Message{say(message.User, message.Text("a")), said, say(message.User, message.Text("b"))}}
		reply, err := client.Stream(t.Context(), req, func(provider.Event) {})
		if err != nil || len(bodies) != 2 {
			t.Fatalf("%s: %d requests, %v", name, len(bodies), err)
		}
		if last := bodies[1]; strings.Contains(last, "rs_1") || strings.Contains(last, "msg_1") || !strings.Contains(last, `"well"`) {
			t.Errorf("%s: sent again: %s", name, last)
		}
		next := message.Message{Role: message.Assistant, Model: "openai-responses/m", Parts: append([]message.Part{
			{Type: message.TypeReasoning, Opaque: []byte(`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"sealed-new"}`)},
		}, reply.Parts...)}
		req.Messages = append(req.Messages, next, say(message.User, message.Text("c")))
		if _, err = client.Stream(t.Context(), req, func(provider.Event) {}); err != nil || len(bodies) != 3 {
			t.Fatalf("%s: %d requests, %v", name, len(bodies), err)
		}
		if last := bodies[2]; strings.Contains(last, "sealed") || strings.Contains(last, "silent") {
			t.Errorf("%s: after it: %s", name, last)
		}
	}
}

// Where nothing helps there is one more request, not a third.
func TestARefusalThatStaysEndsTheRequest(t *testing.T) {
	for refusal, want := range map[string]int{
		`{"error":{"code":"invalid_encrypted_content","message":"could not verify"}}`: 2,
		`{"error":{"message":"Encrypted content is not supported with this model."}}`: 2,
		`{"error":{"message":"Unknown parameter: 'x'."}}`:                             1,
	} {
		n := 0
		client := open(t, func(r *http.Request) (*http.Response, error) { n++; return providertest.Answered(r, 400, refusal), nil })
		_, err := client.Stream(t.Context(), provider.Request{Messages: []message.Message{say(message.User, message.Text("a"))}}, func(provider.Event) {})
		if err == nil || n != want {
			t.Errorf("%s: %d requests, want %d, %v", refusal, n, want, err)
		}
	}
}
