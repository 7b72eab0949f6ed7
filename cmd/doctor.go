package cmd

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var flags settingFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "look whether runs would find what they need here",
		Long: "doctor looks at the configuration, the model and its key, the directory of the sessions (it writes, syncs\n" +
			"and locks there, and leaves nothing), the room that is left, the clock, and the programs that tools use. It\n" +
			"asks no model and needs no network. Each line is ok, a warning or a problem with what to do about it; it\n" +
			"exits with 1 if there is a problem.",
		Example: "  kagent doctor\n  kagent doctor --model demo\n" +
			"  kagent doctor -o json | jq -r '.[] | select(.level != \"ok\") | .message'",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c, &flags) },
	}
	flags.addWayTo(c.Flags())
	return c
}

// The levels of a finding.
const (
	levelOK      = "ok"
	levelWarning = "warning"
	levelProblem = "problem"
)

// finding is what one look brought.
type finding struct {
	Check   string `json:"check"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Do      string `json:"do,omitempty"` // what to do about it
}

// findings gathers what is found, check by check.
type findings []finding

func (f *findings) ok(check, format string, args ...any) {
	*f = append(*f, finding{check, levelOK, fmt.Sprintf(format, args...), ""})
}

func (f *findings) warn(check, do, format string, args ...any) {
	*f = append(*f, finding{check, levelWarning, fmt.Sprintf(format, args...), do})
}

func (f *findings) problem(check, do, format string, args ...any) {
	*f = append(*f, finding{check, levelProblem, fmt.Sprintf(format, args...), do})
}

// refused takes in an error as a problem, with the hint that it carries.
func (f *findings) refused(check string, err error) {
	var usage *UsageError
	if errors.As(err, &usage) {
		f.problem(check, usage.Hint, "%s", oneLine(usage.Message, 1000))
		return
	}
	do := ""
	if h := hints(err); len(h) > 0 {
		do = h[0]
	}
	f.problem(check, do, "%s", oneLine(err.Error(), 1000))
}

func (a *app) doctor(c *cobra.Command, flags *settingFlags) error {
	var found findings
	warnings, err := a.configure(c, nil)
	if err := a.readFormat(c); err != nil {
		return err
	}
	found.configuration(warnings, err)
	found.model(flags)
	found.sessions(a)
	found.room(a.dir)
	found.programs()
	if a.format == "json" {
		jsonList(a.out, found)
	} else {
		a.showFindings(found)
	}
	for _, f := range found {
		if f.Level == levelProblem {
			a.code = exitFailed
		}
	}
	return nil
}

func (a *app) showFindings(all findings) {
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	for _, f := range all {
		text := oneLine(f.Message, 2000)
		if f.Do != "" {
			text += "; " + oneLine(f.Do, 500)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.Check, text)
	}
	w.Flush()
}
