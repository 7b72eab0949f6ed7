package oracle

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	aoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// heard is what a stream says.
type heard struct {
	text          string
	calls         []call
	input, output int64
}

type call struct {
	name string
	args string // compact
}

func (h *heard) call(t *testing.T, name string, args any) {
	t.Helper()
	text, ok := args.(string)
	if !ok {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	raw, err := json.Marshal(value(t, []byte(text))) // sorts the keys
	if err != nil {
		t.Fatal(err)
	}
	h.calls = append(h.calls, call{name, string(raw)})
}

// The golden streams all say the same.
func TestTheSDKsReadTheGoldenStreams(t *testing.T) {
	want := heard{
		text:  "Grüße, 😀 & <all>!",
		calls: []call{{"read_file", `{"n":1,"path":"a b"}`}, {"read_file", `{"path":"c"}`}},
		input: 11, output: 7,
	}
	for protocol, read := range map[string]func(*testing.T, string) heard{
		"openai": chat, "responses": response, "anthropic": messages, "gemini": gemini, "ollama": ollama,
	} {
		t.Run(protocol, func(t *testing.T) {
			kind := "text/event-stream"
			if protocol == "ollama" {
				kind = "application/x-ndjson"
			}
			if got := read(t, serve(t, protocol, kind)); !reflect.DeepEqual(got, want) {
				t.Errorf("the SDK reads %+v\nwant %+v", got, want)
			}
		})
	}
}

// serve answers every request with the golden stream of the protocol.
func serve(t *testing.T, protocol, kind string) string {
	stream, err := os.ReadFile(filepath.Join("../../../pkg/provider", protocol, "testdata/stream.golden"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Write(stream)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func chat(t *testing.T, base string) (h heard) {
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"))
	s := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}})
	var all openai.ChatCompletionAccumulator
	for s.Next() {
		if !all.AddChunk(s.Current()) {
			t.Error("a chunk does not fit")
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	m := all.Choices[0].Message
	h.text, h.input, h.output = m.Content, all.Usage.PromptTokens, all.Usage.CompletionTokens
	for _, c := range m.ToolCalls {
		h.call(t, c.Function.Name, c.Function.Arguments)
	}
	return h
}

func response(t *testing.T, base string) (h heard) {
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"))
	s := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: "m"})
	var last responses.Response
	streamed := ""
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.output_text.delta":
			streamed += e.Delta
		case "response.completed":
			last = e.Response
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	h.text, h.input, h.output = last.OutputText(), last.Usage.InputTokens, last.Usage.OutputTokens
	if streamed != h.text {
		t.Errorf("streamed %q, then %q", streamed, h.text)
	}
	for _, item := range last.Output {
		if item.Type == "function_call" {
			c := item.AsFunctionCall()
			h.call(t, c.Name, c.Arguments)
		}
	}
	return h
}

func messages(t *testing.T, base string) (h heard) {
	client := anthropic.NewClient(aoption.WithBaseURL(base), aoption.WithAPIKey("k"))
	s := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 1, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}})
	var all anthropic.Message
	for s.Next() {
		if err := all.Accumulate(s.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	for _, b := range all.Content {
		switch b.Type {
		case "text":
			h.text += b.Text
		case "tool_use":
			h.call(t, b.Name, string(b.Input))
		}
	}
	h.input, h.output = all.Usage.InputTokens+all.Usage.CacheReadInputTokens, all.Usage.OutputTokens
	return h
}

func gemini(t *testing.T, base string) (h heard) {
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base}})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range client.Models.GenerateContentStream(t.Context(), "m", genai.Text("hi"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Candidates {
			for _, p := range c.Content.Parts {
				switch {
				case p.FunctionCall != nil:
					h.call(t, p.FunctionCall.Name, p.FunctionCall.Args)
				case !p.Thought:
					h.text += p.Text
				}
			}
		}
		if u := r.UsageMetadata; u != nil {
			h.input, h.output = int64(u.PromptTokenCount), int64(u.CandidatesTokenCount+u.ThoughtsTokenCount)
		}
	}
	return h
}

func ollama(t *testing.T, base string) (h heard) {
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(u, http.DefaultClient)
	err = client.Chat(t.Context(), &api.ChatRequest{Model: "m"}, func(r api.ChatResponse) error {
		h.text += r.Message.Content
		for _, c := range r.Message.ToolCalls {
			h.call(t, c.Function.Name, c.Function.Arguments)
		}
		if r.Done {
			h.input, h.output = int64(r.PromptEvalCount), int64(r.EvalCount)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
