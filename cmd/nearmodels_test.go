package cmd

import (
	"strings"
	"testing"

	"kagent/pkg/provider/catalogue"
)

// known is a catalogue of the built-in services and models.
func known(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A name that no service has is answered with those that are like it.
func TestAMisspeltModelIsAskedFor(t *testing.T) {
	c := known(t)
	for wrong, want := range map[string]string{
		"gpt-5.1-mni":                        "did you mean openai/gpt-", // and no more than three
		"claud-sonnet":                       "did you mean anthropic/claude-sonnet-",
		"claude-sonet-4-5-20250929":          "did you mean anthropic/claude-sonnet-4-5-20250929",
		"GPT-5.1":                            "did you mean openai/gpt-5.1?",
		"gpt5":                               "did you mean openai/gpt-5?",
		"gemini-2.5-por":                     "did you mean gemini/gemini-2.5-pro?",
		"openia/gpt-5":                       "did you mean openai/gpt-5?",
		"meta-llama/llama-3.3-70b-instrct":   "did you mean openrouter/meta-llama/llama-3.3-70b-instruct?",
		"opena":                              "did you mean openai/NAME or",
		"openai":                             "name a model of it: openai/NAME",
		"anthropic/":                         "name a model of it: anthropic/NAME",
		"openai:gpt-5":                       "did you mean openai/gpt-5?",
		"sonnet":                             "`kagent models sonnet` lists all",
		"demo/x":                             "write demo alone",
		"nobody/has-this":                    "known are anthropic, ",
		"xyzzy":                              "want SERVICE/NAME",
		"模型":                                 "want SERVICE/NAME",
		"":                                   "want SERVICE/NAME",
		"script:":                            "want script:FILE",
		strings.Repeat("gpt-5", 10_000):      "want SERVICE/NAME",
		"\xff\xfe":                           "want SERVICE/NAME",
		"qwen/qwen3-32b":                     "name one: groq/qwen/qwen3-32b, openrouter/qwen/qwen3-32b",
		"openai/" + strings.Repeat("x", 100): "", // a service may have more than is known here
	} {
		_, err := resolveModel(c, wrong)
		switch {
		case want == "" && err != nil:
			t.Errorf("%.50q: %v", wrong, err)
		case want == "":
		case err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "; "+want) && !strings.Contains(err.Error(), "? "+want):
			t.Errorf("%.50q: %.1000v, want %q", wrong, err, want)
		case strings.Count(err.Error(), " or ") > 2 && strings.Contains(want, "did you mean"):
			t.Errorf("too many: %v", err)
		}
	}
}

func TestAServiceInAnotherCaseIsTheOneThatIsMeant(t *testing.T) {
	c, err := catalogue.New("models.yaml", []byte("services:\n  MyCo: {protocol: openai-chat, base: http://127.0.0.1:1/v1, keyless: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for wrong, want := range map[string]string{
		"OpenAI/gpt-5":        "; did you mean openai/gpt-5?",
		"OPENROUTER/x/y":      "; did you mean openrouter/x/y?",
		"OpenIA/gpt-5":        "; did you mean openai/gpt-5?",
		"Open-Router/openai/": "; did you mean openrouter/openai/?",
		"myco/x":              "; did you mean MyCo/x?",
		"MyCoo/x":             "; did you mean MyCo/x?",
		"OpenAI:gpt-5":        "; did you mean openai/gpt-5?",
		"OpenAI":              "; did you mean openai/NAME?",
		"OpenAI/":             "; did you mean openai/NAME?",
	} {
		if _, err := resolveModel(c, wrong); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", wrong, err, want)
		}
	}
	if got := noModels(c, "OpenAI/none-such"); !strings.HasSuffix(got, "; did you mean openai/none-such?") {
		t.Error(got)
	}
}

func TestAModelThatTheServiceDoesNotKnowIsAskedFor(t *testing.T) {
	for name, want := range map[string]string{
		"openai/gpt-5.1x": "; did you mean openai/gpt-5.1",
		"azure/gpt-5.1x":  "; did you mean azure/gpt-5.1",
		"openai/gpt-5.1":  "; `kagent models openai/`",
		"openai/xyzzy":    "; `kagent models openai/`",
	} {
		line := lineFor(name, name+": not_found (HTTP 404): no such model", "not_found", 404, nil)
		if !strings.Contains(line, want) {
			t.Errorf("%q, want %q", line, want)
		}
	}
}

func TestWhereNoModelIsListedTheReasonIsSaid(t *testing.T) {
	c := known(t)
	for text, want := range map[string]string{
		"openia/":     "did you mean openai/?",
		"openia/gpt":  "did you mean openai/gpt?",
		"ollama/":     "no model of ollama is known by such a name",
		"nosuch/":     "`kagent models --services`",
		"gpt-5.1-mni": "did you mean openai/",
		"nosuch":      "a service may have it all the same",
	} {
		if got := noModels(c, text); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
