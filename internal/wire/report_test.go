package wire

import (
	"testing"

	"kagent/pkg/provider"
	"kagent/pkg/provider/anthropic"
	"kagent/pkg/provider/gemini"
	"kagent/pkg/provider/ollama"
	"kagent/pkg/provider/openai"
	"kagent/pkg/provider/providertest"
	"kagent/pkg/provider/responses"
)

// The report of all recorded answers, conversations and errors: go test -v -run Report.
func TestReportOfTheWholeCollection(t *testing.T) {
	type options = providertest.Options
	providertest.Report(t, []providertest.Adapter{
		{Protocol: "openai-chat", ID: "openai/m", New: func(o options) (provider.Provider, error) {
			return openai.New(openai.Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient})
		}},
		{Protocol: "openai-responses", ID: "openai-responses/m", New: func(o options) (provider.Provider, error) {
			return responses.New(responses.Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient})
		}},
		{Protocol: "anthropic-messages", ID: "anthropic/m", New: func(o options) (provider.Provider, error) {
			return anthropic.New(anthropic.Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient})
		}},
		{Protocol: "gemini", ID: "gemini/m", New: func(o options) (provider.Provider, error) {
			return gemini.New(gemini.Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient})
		}},
		{Protocol: "ollama", ID: "ollama/m", New: func(o options) (provider.Provider, error) {
			return ollama.New(ollama.Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient})
		}},
	})
}
