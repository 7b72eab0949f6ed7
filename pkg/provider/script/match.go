package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// facts are all that a script can see of a request.
type facts struct {
	provider.Label
	lastUser   string
	results    int
	lastResult string
	tools      []string
}

func factsOf(req provider.Request) facts {
	f := facts{Label: req.Label}
	for _, m := range req.Messages {
		if m.Role == message.User {
			f.lastUser = m.Text()
		}
		for _, p := range m.Parts {
			if p.Type == message.TypeResult && p.Result != nil {
				f.results++
				f.lastResult = p.Result.Text
			}
		}
	}
	for _, t := range req.Tools {
		f.tools = append(f.tools, t.Name)
	}
	return f
}

// when is the condition of a reply; what is nil or empty always holds.
type when struct {
	lastUser    string
	lastUserIs  *string
	lastUserSum string
	toolResults *span
	lastTool    *string
	tools       []string
	noTools     *bool
	scope       *string
	ordinal     *span
	attempt     *span
	toolsAre    *[]string
	agent       *string
	systemIs    *string
	systemSum   string
}

func (w *when) set(n *yaml.Node) error {
	_, err := mapping(n, fields{
		"last_user":        text(&w.lastUser),
		"last_user_is":     pointer(&w.lastUserIs, text),
		"last_user_sha256": sum(&w.lastUserSum),
		"tool_results":     pointer(&w.toolResults, from(0)),
		"last_tool":        pointer(&w.lastTool, text),
		"tools":            texts(&w.tools),
		"tools_are":        pointer(&w.toolsAre, texts),
		"agent":            pointer(&w.agent, text),
		"system_is":        pointer(&w.systemIs, text),
		"system_sha256":    sum(&w.systemSum),
		"no_tools":         pointer(&w.noTools, flag),
		"scope":            pointer(&w.scope, text),
		"ordinal":          pointer(&w.ordinal, from(1)),
		"attempt":          pointer(&w.attempt, from(1)),
	})
	return err
}

func (w *when) holds(f facts) bool {
	for range w.misses(f) {
		return false
	}
	return true
}

// A miss is a condition that does not hold. The weight tells how far off a reply
// is for it: one of another scope is not meant at all.
type miss struct {
	weight int
	why    func() string
}

// misses goes through the conditions that do not hold.
func (w *when) misses(f facts) iter.Seq[miss] {
	return func(yield func(miss) bool) {
		for _, c := range []struct {
			holds  bool
			weight int
			why    func() string
		}{
			{w.scope == nil || inScope(*w.scope, f.Scope), 100, func() string { return fmt.Sprintf("it is for scope %q", *w.scope) }},
			{w.agent == nil || f.Agent == *w.agent, 20, func() string { return fmt.Sprintf("the agent is %q and not %q", f.Agent, *w.agent) }},
			{w.ordinal.holds(f.Ordinal), 10, func() string { return "it is for ordinal " + w.ordinal.String() }},
			{w.attempt.holds(f.Attempt), 5, func() string { return "it is for attempt " + w.attempt.String() }},
			{strings.Contains(f.lastUser, w.lastUser), 1, func() string { return fmt.Sprintf("the user's text does not contain %q", cut(w.lastUser, 80)) }},
			{w.lastUserIs == nil || f.lastUser == *w.lastUserIs, 1, func() string { return differ("the user's text is", f.lastUser, *w.lastUserIs) }},
			{w.lastUserSum == "" || sumOf(f.lastUser) == w.lastUserSum, 1, func() string { return "the user's text is not the one whose SHA-256 begins with " + w.lastUserSum[:8] }},
			{w.toolResults.holds(f.results), 1, func() string { return "it is for " + w.toolResults.String() + " tool results" }},
			{w.lastTool == nil || f.results > 0 && strings.Contains(f.lastResult, *w.lastTool), 1, func() string { return fmt.Sprintf("the last tool result does not contain %q", cut(*w.lastTool, 80)) }},
			{missing(w.tools, f.tools) == nil, 1, func() string { return "not offered: " + strings.Join(missing(w.tools, f.tools), ", ") }},
			{w.toolsAre == nil || sameTools(*w.toolsAre, f.tools), 1, func() string { return otherTools(*w.toolsAre, f.tools) }},
			{w.systemIs == nil || f.System == *w.systemIs, 1, func() string { return differ("the system prompt is", f.System, *w.systemIs) }},
			{w.systemSum == "" || sumOf(f.System) == w.systemSum, 1, func() string { return "the system prompt is not the one whose SHA-256 begins with " + w.systemSum[:8] }},
			{w.noTools == nil || *w.noTools == (len(f.tools) == 0), 1, func() string { return fmt.Sprintf("it is for no_tools: %v", *w.noTools) }},
		} {
			if !c.holds && !yield(miss{c.weight, c.why}) {
				return
			}
		}
	}
}

// missing are those of the tools that are not offered.
func missing(tools, offered []string) (out []string) {
	for _, t := range tools {
		if !slices.Contains(offered, t) {
			out = append(out, t)
		}
	}
	return out
}

func sameTools(want, offered []string) bool {
	return missing(want, offered) == nil && missing(offered, want) == nil
}

// otherTools says how the tools that are offered differ from those that are
// wanted.
func otherTools(want, offered []string) string {
	var said []string
	if less := missing(want, offered); less != nil {
		said = append(said, "not offered: "+strings.Join(less, ", "))
	}
	if more := missing(offered, want); more != nil {
		said = append(said, "offered besides: "+strings.Join(more, ", "))
	}
	return strings.Join(said, "; ")
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// inScope compares names; a star at the end of want stands for any rest.
func inScope(want, scope string) bool {
	if start, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(scope, start)
	}
	return want == scope
}

// span is a range of numbers, both ends included.
type span struct{ min, max int }

func (s *span) holds(n int) bool { return s == nil || s.min <= n && n <= s.max }

func (s *span) String() string {
	switch {
	case s.min == s.max:
		return strconv.Itoa(s.min)
	case s.max == math.MaxInt:
		return fmt.Sprintf("%d or more", s.min)
	}
	return fmt.Sprintf("%d to %d", s.min, s.max)
}

// from reads a span of numbers that start at lowest.
func from(lowest int) func(*span) setter {
	return func(s *span) setter {
		return func(n *yaml.Node) error {
			if n.Kind != yaml.MappingNode {
				err := number(lowest, math.MaxInt32, &s.min)(n)
				s.max = s.min
				return err
			}
			s.max = math.MaxInt
			_, err := mapping(n, fields{
				"min": number(0, math.MaxInt32, &s.min),
				"max": number(lowest, math.MaxInt32, &s.max),
			})
			if err == nil && s.min > s.max {
				err = faultAt(n, "min %d is more than max %d", s.min, s.max)
			}
			return err
		}
	}
}

// find returns the first reply that fits, and its place.
func (s *Script) find(f facts) (int, error) {
	for i := range s.replies {
		if s.replies[i].when.holds(f) {
			return i, nil
		}
	}
	return 0, &provider.Error{
		Kind:     provider.InvalidRequest,
		Provider: "script",
		Final:    s.strict,
		Message: message.Clean(fmt.Sprintf(
			"no reply in %s fits: scope %q, ordinal %d, attempt %d, %d tool results, %d tools offered, last user text %q; %s",
			s.name, f.Scope, f.Ordinal, f.Attempt, f.results, len(f.tools), cut(f.lastUser, 80), s.nearest(f))),
	}
}

// nearest says what differs from the reply that is the least far off.
func (s *Script) nearest(f facts) string {
	best, least, why := 0, math.MaxInt, ""
	for i := range s.replies {
		weight := 0
		var said []string
		for m := range s.replies[i].when.misses(f) {
			weight += m.weight
			said = append(said, m.why())
		}
		if weight < least {
			best, least, why = i+1, weight, strings.Join(said, ", ")
		}
	}
	if last := s.lastOf(f.Scope); last > 0 && last < f.Ordinal {
		return fmt.Sprintf("the script ends before it: the last reply for this scope is for ordinal %d", last)
	}
	return fmt.Sprintf("reply %d is the nearest, but %s", best, why)
}

// lastOf returns the last ordinal that a scope has a reply for, 0 where there is
// no last one.
func (s *Script) lastOf(scope string) int {
	last := 0
	for i := range s.replies {
		w := &s.replies[i].when
		switch {
		case w.scope == nil || w.ordinal == nil || w.ordinal.max == math.MaxInt:
			return 0
		case *w.scope == scope:
			last = max(last, w.ordinal.max)
		}
	}
	return last
}

// differ tells two texts apart, from shortly before they differ.
func differ(what, got, want string) string {
	g, w := []rune(got), []rune(want)
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	from := max(at-20, 0)
	return fmt.Sprintf("%s %q and not %q: they differ at character %d", what, cut(string(g[from:]), 60), cut(string(w[from:]), 60), at+1)
}

// cut shortens s to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
