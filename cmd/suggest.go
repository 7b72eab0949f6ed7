package cmd

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag, and for a name that there is not,
// which was probably meant.
func flagError(c *cobra.Command, err error) error {
	hint := "see `" + c.CommandPath() + " --help`"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		if near := nearest(unknown.GetSpecifiedName(), flagNames(c)); near != nil {
			hint = "did you mean --" + strings.Join(near, " or --") + "?"
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return usageErrorf("it takes "+article(f.Value.Type()), "--%s: invalid value %q%s", f.Name, oneLine(invalid.GetValue(), 80), flaw(invalid.Unwrap()))
	}
	return usageErrorf(hint, "%s", err)
}

// flagNames lists those that a command takes.
func flagNames(c *cobra.Command) (names []string) {
	note := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	c.Flags().VisitAll(note)
	c.InheritedFlags().VisitAll(note)
	return names
}

// noSuchCommand says of the first word that it is no command. It may be a prompt.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	hint := "a prompt is given to `kagent run`; see `kagent --help`"
	if near := nearest(args[0], names); near != nil {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageErrorf(hint, "unknown command %q", oneLine(args[0], 80))
}

// nearest returns the names that a misspelt one is most like: those of which it
// is the beginning, or that differ in a third of its letters.
func nearest(wrong string, names []string) (near []string) {
	letters := utf8.RuneCountInString(wrong)
	if letters > longestName {
		return nil
	}
	least := max(1, letters/3)
	for _, name := range slices.Sorted(slices.Values(names)) {
		d := distance(wrong, name)
		if strings.HasPrefix(name, wrong) && len(wrong) > 2 {
			d = 1
		}
		if d < least {
			near, least = nil, d
		}
		if d == least {
			near = append(near, name)
		}
	}
	return near
}

// longestName is how many letters of a name are compared.
const longestName = 64

// distance counts the letters to put in, take out, change or swap that make one
// word of another.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > longestName || len(y) > longestName {
		return longestName
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			change := rows[i][j]
			if x[i] != y[j] {
				change++
			}
			rows[i+1][j+1] = min(rows[i][j+1]+1, rows[i+1][j]+1, change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				rows[i+1][j+1] = min(rows[i+1][j+1], rows[i-1][j-1]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
