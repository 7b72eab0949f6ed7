package anthropic

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
)

// traits is what has to be known of a model to ask it rightly.
type traits struct {
	claude      bool
	maxOutput   int  // what is asked for when the caller doesn't say; models refuse more than they can
	manual      bool // thinks within a budget of tokens
	adaptive    bool // decides itself how long to think; effort guides it
	sampling    bool // takes a temperature
	structured  bool // fits its answer to a schema
	forced      bool // can be made to call a tool
	bound       bool // checks that nothing before a thinking block has changed (preserved thinking)
	forcedThink bool // may think although a call is forced
}

// since says what holds from a version of Claude on. The defaults for output
// are less than the models can, so that they leave room in the window: 4096
// (3), 8192 (3.5), 64000 (3.7), 32000 (Opus 4), 64000 (4.5), 128000 (4.6).
type since struct {
	version
	traits
}

type version struct{ major, minor int }

// generations is ordered by version, newest first. Facts are from the models
// overview, adaptive-thinking, structured-outputs and preserved-thinking pages
// of platform.claude.com. Later models are taken to be like the newest.
func generations() []since {
	return []since{
		{version{5, 1}, traits{maxOutput: 64000, adaptive: true, structured: true, bound: true}},
		{version{4, 8}, traits{maxOutput: 64000, adaptive: true, structured: true, forced: true, forcedThink: true}},
		{version{4, 7}, traits{maxOutput: 64000, adaptive: true, structured: true, forced: true}},
		{version{4, 6}, traits{maxOutput: 64000, adaptive: true, structured: true, forced: true, sampling: true}},
		{version{4, 5}, traits{maxOutput: 32000, manual: true, structured: true, forced: true, sampling: true}},
		{version{3, 7}, traits{maxOutput: 32000, manual: true, forced: true, sampling: true}},
		{version{3, 5}, traits{maxOutput: 8192, forced: true, sampling: true}},
		{version{0, 0}, traits{maxOutput: 4096, forced: true, sampling: true}},
	}
}

// traitsOf looks a model up. What is no Claude stands behind a gateway that
// speaks the protocol as it was before Claude 4.5.
func traitsOf(model string) traits {
	is, v := claude(model)
	if !is {
		return traits{maxOutput: 8192, manual: true, forced: true, sampling: true}
	}
	for _, g := range generations() {
		if cmp.Or(cmp.Compare(v.major, g.major), cmp.Compare(v.minor, g.minor)) >= 0 {
			g.claude = true
			return g.traits
		}
	}
	return traits{}
}

// claude finds the version in names like claude-3-5-haiku-20241022,
// anthropic/claude-opus-4.6, claude-sonnet-5@20260101. Without one
// (claude-opus-latest) it is 5.0.
func claude(model string) (is bool, v version) {
	_, rest, is := strings.Cut(strings.ToLower(model), "claude")
	if !is {
		return false, v
	}
	words := strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		major, ok := small(w)
		if !ok {
			continue
		}
		v.major = major
		if i+1 < len(words) {
			v.minor, _ = small(words[i+1])
		}
		return true, v
	}
	return true, version{5, 0}
}

// small reads a part of a version; dates are none.
func small(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) > 2 {
		return 0, false
	}
	return n, true
}
