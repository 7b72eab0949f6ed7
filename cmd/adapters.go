package cmd

import (
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/anthropic"
	"kagent/pkg/provider/gemini"
	"kagent/pkg/provider/ollama"
	"kagent/pkg/provider/openai"
	"kagent/pkg/provider/responses"
	"kagent/pkg/provider/sse"
)

// adapter speaks one of catalogue.Protocols.
type adapter struct {
	open    func(sse.Options) (provider.Provider, error)
	dropped func([]message.ToolSpec) []string // what it can't tell of tools
}

func adapterOf(protocol string) adapter {
	switch protocol {
	case "anthropic":
		return adapter{anthropic.New, anthropic.Dropped}
	case "gemini":
		return adapter{gemini.New, gemini.Dropped}
	case "ollama":
		return adapter{ollama.New, ollama.Dropped}
	case "openai-responses":
		return adapter{responses.New, responses.Dropped}
	}
	return adapter{openai.New, openai.Dropped}
}
