package cmd

import (
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/session"
)

// dropped says what the services of a chain can't be told of the schemas of
// tools. A call is checked against the whole schema all the same.
func dropped(c *catalogue.Catalogue, model string, tools []message.ToolSpec) []string {
	var out []string
	for _, name := range chainOf(model) {
		service, _, _ := strings.Cut(name, "/")
		s, known := c.Service(service)
		if !known {
			continue
		}
		for _, what := range adapterOf(s.Protocol).dropped(tools) {
			out = append(out, name+" can't be told all of the arguments of a tool: "+oneLine(what, 300))
		}
	}
	return out
}

// schemas warns, once, of what is lost of the tools that a model is offered.
func (t *turn) schemas(h *session.RequestHeader) {
	key := h.Model + " " + strings.Join(h.Tools, " ")
	if t.offered[key] {
		return
	}
	if t.offered == nil {
		t.offered = map[string]bool{}
	}
	t.offered[key] = true
	c, err := loadCatalogue()
	if err != nil {
		return
	}
	tools := slices.DeleteFunc(t.tools.Specs(), func(s message.ToolSpec) bool { return !slices.Contains(h.Tools, s.Name) })
	for _, w := range dropped(c, h.Model, tools) {
		if t.result.warn(w) {
			t.say("warning: %s", w)
		}
	}
}
