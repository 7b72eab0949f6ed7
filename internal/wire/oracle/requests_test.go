package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// geminiRequest is the body of a request to Gemini, of which the SDK has the
// parts but not the whole.
type geminiRequest struct {
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Contents          []*genai.Content        `json:"contents,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// elsewhere are paths that an SDK's type for the whole request doesn't keep:
// fields of other vendors, which go back to them alone; and places where its
// decoder takes another variant of a union, which TestVariants looks at.
func elsewhere(protocol string) []string {
	switch protocol {
	case "openai":
		return []string{
			".tool_choice.function.name",
			".extra_content", ".reasoning_content", ".reasoning", ".reasoning_text", ".reasoning_opaque", ".reasoning_details",
		}
	case "responses":
		return []string{".tool_choice.name", ".input[2].id", ".input[2].status", ".input[15].id", ".input[15].status"}
	}
	return nil
}

// Variants of unions that the decoders of the whole don't choose.
func TestVariantsTakeTheirPartsOfTheGoldenRequests(t *testing.T) {
	chat := value(t, golden(t, "openai/testdata/request.golden")).(map[string]any)
	response := value(t, golden(t, "responses/testdata/request.golden")).(map[string]any)
	input := response["input"].([]any)
	for name, c := range map[string]struct {
		sent any
		into any
	}{
		"chat's tool":     {chat["tool_choice"], &openai.ChatCompletionNamedToolChoiceParam{}},
		"responses' tool": {response["tool_choice"], &responses.ToolChoiceFunctionParam{}},
		"a message":       {input[2], &responses.ResponseOutputMessageParam{}},
		"another message": {input[15], &responses.ResponseOutputMessageParam{}},
	} {
		raw, err := json.Marshal(c.sent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, c.into); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := json.Marshal(c.into)
		if err != nil {
			t.Fatal(err)
		}
		for _, lost := range missing("", c.sent, value(t, again)) {
			t.Errorf("%s: the SDK does not know %s", name, lost)
		}
	}
}

func TestTheSDKsTypesTakeTheGoldenRequests(t *testing.T) {
	for file, into := range map[string]any{
		"openai/testdata/request.golden":             &openai.ChatCompletionNewParams{},
		"responses/testdata/request.golden":          &responses.ResponseNewParams{},
		"anthropic/testdata/claude-haiku-4-5.golden": &anthropic.BetaMessageNewParams{},
		"anthropic/testdata/claude-opus-5-5.golden":  &anthropic.BetaMessageNewParams{},
		"gemini/testdata/request.golden":             &geminiRequest{},
		"ollama/testdata/request.golden":             &api.ChatRequest{},
	} {
		t.Run(file, func(t *testing.T) {
			body := golden(t, file)
			dec := json.NewDecoder(bytes.NewReader(body))
			dec.DisallowUnknownFields() // where the type has no decoder of its own
			if err := dec.Decode(into); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(into)
			if err != nil {
				t.Fatal(err)
			}
			protocol, _, _ := strings.Cut(file, "/")
			for _, lost := range missing("", value(t, body), value(t, again)) {
				if !endsIn(lost, append(elsewhere(protocol), ".stream")) {
					t.Errorf("the SDK does not know %s", lost)
				}
			}
		})
	}
}

// golden returns the body of a golden request: what follows its head.
func golden(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../pkg/provider", file))
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		t.Fatal("no body")
	}
	if strings.HasPrefix(file, "gemini/") { // ours are made up, and the type wants base64
		body = regexp.MustCompile(`("thoughtSignature": )"[^"]*"`).ReplaceAll(body, []byte(`$1"c2ln"`))
	}
	return body
}

func value(t *testing.T, raw []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// missing lists what is in sent, and not so in kept. Null is as good as absent.
func missing(path string, sent, kept any) (list []string) {
	switch s := sent.(type) {
	case nil:
	case map[string]any:
		k, _ := kept.(map[string]any)
		for name, v := range s {
			list = append(list, missing(path+"."+name, v, k[name])...)
		}
	case []any:
		k, _ := kept.([]any)
		for i, v := range s {
			var other any
			if i < len(k) {
				other = k[i]
			}
			list = append(list, missing(fmt.Sprintf("%s[%d]", path, i), v, other)...)
		}
	case json.Number:
		a, _ := s.Float64() // as the types keep any numbers
		k, _ := kept.(json.Number)
		if b, _ := k.Float64(); a != b {
			list = append(list, fmt.Sprintf("%s: sent %v, kept %v", path, sent, kept))
		}
	case string:
		if block, ok := kept.([]any); ok && len(block) == 1 { // a text is a list of one block, too
			return missing(path, map[string]any{"type": "text", "text": s}, block[0])
		}
		if s != kept && !(kept == nil && s == "") {
			list = append(list, fmt.Sprintf("%s: sent %v, kept %v", path, sent, kept))
		}
	default:
		if !reflect.DeepEqual(sent, kept) && !(kept == nil && sent == false) {
			list = append(list, fmt.Sprintf("%s: sent %v, kept %v", path, sent, kept))
		}
	}
	return list
}

func endsIn(path string, names []string) bool {
	path, _, _ = strings.Cut(path, ":")
	for _, name := range names {
		if strings.HasSuffix(path, name) || strings.Contains(path, name+".") || strings.Contains(path, name+"[") {
			return true
		}
	}
	return false
}
