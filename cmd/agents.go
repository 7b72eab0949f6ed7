package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

const (
	agentsDir    = ".kagent/agents"
	maxProfiles  = 50
	profileLimit = 256 << 10 // bytes
)

func (a *app) agentsCommand() *cobra.Command {
	var dir, workdir string
	c := &cobra.Command{
		Use:   "agents",
		Short: "list the agents, and the profiles that an orchestrator may give parts of its work to",
		Long: "agents lists what --agent takes, and the profiles in --agents-dir: Markdown files with front matter\n" +
			"(name, description, tools, model), whose body is the system prompt. A profile narrows what a session\n" +
			"allows and can't widen it.",
		Example: "  kagent agents\n  kagent agents --agents-dir ~/agents -o json | jq '.[].name'",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := a.configure(c, nil); err != nil {
				return err
			}
			if err := a.checkFormat("text", "json"); err != nil {
				return err
			}
			return a.listAgents(workdir, dir)
		},
	}
	c.Flags().StringVar(&dir, "agents-dir", "", "directory of the profiles, relative to the work directory (default "+agentsDir+")")
	c.Flags().StringVarP(&workdir, "workdir", "C", ".", "directory that the tools work in")
	return c
}

// listed is an agent, or a profile, as `kagent agents` shows it.
type listed struct {
	Kind        string   `json:"kind"` // agent or profile
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools"` // null: all that the session allows
	Model       string   `json:"model"` // "": the session's
}

func (a *app) listAgents(workdir, dir string) error {
	profiles, warnings, err := loadProfiles(workdir, dir)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.say("warning: %s", w)
	}
	var all []listed
	for _, name := range agent.Names() {
		all = append(all, listed{Kind: "agent", Name: name, Description: agent.Describe(name)})
	}
	for _, p := range profiles {
		all = append(all, listed{"profile", p.Name, p.Description, p.Tools, p.Model})
	}
	if a.format == "json" {
		a.out.json(all)
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tNAME\tTOOLS\tDESCRIPTION")
	for _, l := range all {
		tools := "all allowed"
		if l.Tools != nil {
			tools = strings.Join(l.Tools, ",")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Kind, l.Name, tools, oneLine(l.Description, 100))
	}
	return w.Flush()
}

// loadProfiles reads the profiles of a directory. Files that are none are
// passed over with a warning; a directory that the user named has to be there.
// One that nobody named ("") came with the project: its profiles choose no model.
func loadProfiles(workdir, dir string) (out []session.Profile, warnings []string, err error) {
	named := dir != ""
	dir = cmp.Or(dir, agentsDir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workdir, dir)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil && !named && errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil && !named:
		return nil, []string{fmt.Sprintf("%s: %v", dir, cause(err))}, nil
	case err != nil:
		return nil, nil, usageErrorf("name a directory of Markdown files", "--agents-dir %s: %v", dir, cause(err))
	}
	for _, e := range entries {
		name, isProfile := strings.CutSuffix(e.Name(), ".md")
		if !isProfile || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		p, more, err := loadProfile(path, name)
		for _, w := range more {
			warnings = append(warnings, path+": "+w)
		}
		switch {
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("%s is left out: %v", path, cause(err)))
			continue
		case slices.ContainsFunc(out, func(o session.Profile) bool { return o.Name == p.Name }):
			warnings = append(warnings, fmt.Sprintf("%s is left out: there is another profile %q", path, p.Name))
			continue
		case len(out) == maxProfiles:
			return out, append(warnings, fmt.Sprintf("%s: only the first %d profiles are used", dir, maxProfiles)), nil
		}
		if why := modelUnfit(p.Model, named); why != "" {
			warnings = append(warnings, fmt.Sprintf("%s: model %q is not used, the session's is: %s", path, oneLine(p.Model, 100), why))
		}
		if !named || !strings.Contains(p.Model, "/") {
			p.Model = ""
		}
		out = append(out, p)
	}
	return out, warnings, nil
}

// modelUnfit says why a profile's model is not used, "" if it is.
func modelUnfit(model string, named bool) string {
	switch {
	case model == "", model == "inherit":
		return ""
	case !named:
		return "a profile that came with the project chooses no model; --agents-dir " + agentsDir + " lets it"
	case !strings.Contains(model, "/"):
		return "name it as SERVICE/NAME"
	}
	return ""
}

func loadProfile(path, name string) (session.Profile, []string, error) {
	b, err := readRegular(path, profileLimit)
	if err != nil {
		return session.Profile{}, nil, err
	}
	return agent.ParseProfile(name, b)
}
