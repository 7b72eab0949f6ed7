package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"kagent/pkg/session"
)

// demandFlags say what must have happened, or not, for a run to be a success.
type demandFlags struct {
	failOnDenied bool
	requireTools []string
}

func (d *demandFlags) addTo(f *pflag.FlagSet) {
	f.BoolVar(&d.failOnDenied, "fail-on-denied", false, "exit with 7 if a tool was denied, also where the run is completed")
	f.StringSliceVar(&d.requireTools, "require-tool", nil, "tool of which a call must have succeeded; else the run has failed (exit 1)")
}

// apply takes the demands in, once it is known which tools are offered.
func (d *demandFlags) apply(out *session.Settings, use func(string) bool) error {
	if use("fail-on-denied") {
		out.FailOnDenied = d.failOnDenied
	}
	if use("require-tool") {
		out.RequireTools = d.requireTools
	}
	for _, name := range out.RequireTools {
		if !slices.Contains(out.Tools, name) {
			return usageErrorf("offered are "+strings.Join(out.Tools, ", ")+"; --allow and --tools offer more", "--require-tool: %q is not offered", name)
		}
	}
	return nil
}
