package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

func (a *app) toolsCommand() *cobra.Command {
	var flags settingFlags
	c := &cobra.Command{
		Use:   "tools",
		Short: "list the tools, and which of them a run would offer to its model",
		Long: "tools lists all tools with their class and arguments, the optional ones in brackets, and whether a run\n" +
			"with the same --allow and --tools would offer them. With -o json the arguments are their JSON Schema.",
		Example: "  kagent tools\n  kagent tools --allow write,execute\n" +
			"  kagent tools -o json | jq -r '.[] | select(.allowed).name'",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := a.configure(c, nil); err != nil {
				return err
			}
			if err := a.readFormat(c); err != nil {
				return err
			}
			return a.listTools(&flags)
		},
	}
	flags.addToolsTo(c.Flags())
	return c
}

// listedTool is a tool as `kagent tools` shows it.
type listedTool struct {
	Name        string          `json:"name"`
	Class       tool.Class      `json:"class"`
	Allowed     bool            `json:"allowed"`
	Why         string          `json:"why,omitempty"` // it is not allowed
	Description string          `json:"description"`
	Arguments   json.RawMessage `json:"arguments"`
}

func (a *app) listTools(flags *settingFlags) error {
	s := session.Settings{Workdir: "."}
	if err := flags.applyTools(&s, func(string) bool { return true }); err != nil {
		return err
	}
	set, err := a.toolSet(s, nil, nil, nil)
	if err != nil {
		return err
	}
	var all []listedTool
	for _, spec := range set.Specs() {
		all = append(all, listTool(set, spec, s))
	}
	if a.format == "json" {
		jsonList(a.out, all)
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tCLASS\tALLOWED\tARGUMENTS")
	for _, t := range all {
		allowed := "yes"
		if !t.Allowed {
			allowed = "no: " + t.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Class, allowed, argumentsOf(t.Arguments))
	}
	return w.Flush()
}

func listTool(set *tool.Set, spec message.ToolSpec, s session.Settings) listedTool {
	t, _ := set.Lookup(spec.Name)
	l := listedTool{
		Name: spec.Name, Class: t.Traits().Class, Allowed: slices.Contains(s.Tools, spec.Name),
		Description: spec.Description, Arguments: spec.Schema,
	}
	switch {
	case l.Allowed:
	case l.Class != tool.Read && !slices.Contains(s.Allow, string(l.Class)):
		l.Why = "--allow " + string(l.Class)
	default:
		l.Why = "not in --tools"
	}
	return l
}

// argumentsOf names what a schema asks for: what is required first, the rest
// in brackets.
func argumentsOf(schema json.RawMessage) string {
	var s struct {
		Required   []string       `json:"required"`
		Properties map[string]any `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return "?" // no set takes such a tool
	}
	names := s.Required
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			names = append(names, "["+name+"]")
		}
	}
	return strings.Join(names, " ")
}
