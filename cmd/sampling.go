package cmd

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"kagent/pkg/session"
)

// samplingFlags shape the replies of the model.
type samplingFlags struct {
	effort      string
	temperature optionalNumber
	maxOutput   int
}

func (s *samplingFlags) addTo(f *pflag.FlagSet) {
	f.StringVar(&s.effort, "effort", "", "how much the model thinks: "+strings.Join(efforts(), ", ")+" (default by the service)")
	f.Var(&s.temperature, "temperature", "0 to 2: how freely the model chooses its words (default by the service)")
	f.IntVar(&s.maxOutput, "max-output", 0, "tokens that a reply may have; one that is cut is gone on with (default by the service)")
}

func efforts() []string { return []string{"low", "medium", "high"} }

// apply overwrites what use says counts. What a service cannot do of it, its
// adapter leaves out, or the service refuses it.
func (s *samplingFlags) apply(out *session.Settings, use func(string) bool) error {
	if use("effort") {
		if out.Effort = s.effort; s.effort != "" {
			if err := oneOf("effort", s.effort, efforts()...); err != nil {
				return err
			}
		}
	}
	if use("temperature") {
		out.Temperature = s.temperature.value
		if t := out.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
			return usageErrorf("want 0 to 2", "--temperature %s is out of bounds", s.temperature.String())
		}
	}
	if use("max-output") {
		out.MaxOutput = s.maxOutput
		return notNegative("max-output", s.maxOutput)
	}
	return nil
}

// optionalNumber is a flag that may be left open; "" leaves it open again.
type optionalNumber struct{ value *float64 }

func (n *optionalNumber) Set(text string) error {
	n.value = nil
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return strconv.ErrSyntax
	}
	n.value = &v
	return nil
}

func (n *optionalNumber) String() string {
	if n.value == nil {
		return ""
	}
	return strconv.FormatFloat(*n.value, 'g', -1, 64)
}

func (n *optionalNumber) Type() string { return "float64" }
