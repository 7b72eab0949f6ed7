package script

import (
	"fmt"
	"math"
	"slices"
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
	toolResults *span
	lastTool    *string
	tools       []string
	noTools     *bool
	scope       *string
	ordinal     *span
	attempt     *span
}

func (w *when) set(n *yaml.Node) error {
	_, err := mapping(n, fields{
		"last_user":    text(&w.lastUser),
		"last_user_is": pointer(&w.lastUserIs, text),
		"tool_results": pointer(&w.toolResults, from(0)),
		"last_tool":    pointer(&w.lastTool, text),
		"tools": list(func(n *yaml.Node) error {
			w.tools = append(w.tools, "")
			return text(&w.tools[len(w.tools)-1])(n)
		}),
		"no_tools": pointer(&w.noTools, flag),
		"scope":    pointer(&w.scope, text),
		"ordinal":  pointer(&w.ordinal, from(1)),
		"attempt":  pointer(&w.attempt, from(1)),
	})
	return err
}

func (w *when) holds(f facts) bool {
	for _, t := range w.tools {
		if !slices.Contains(f.tools, t) {
			return false
		}
	}
	return strings.Contains(f.lastUser, w.lastUser) &&
		(w.lastUserIs == nil || f.lastUser == *w.lastUserIs) &&
		w.toolResults.holds(f.results) &&
		(w.lastTool == nil || f.results > 0 && strings.Contains(f.lastResult, *w.lastTool)) &&
		(w.noTools == nil || *w.noTools == (len(f.tools) == 0)) &&
		(w.scope == nil || inScope(*w.scope, f.Scope)) &&
		w.ordinal.holds(f.Ordinal) &&
		w.attempt.holds(f.Attempt)
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

// find returns the first reply that fits.
func (s *Script) find(f facts) (*reply, error) {
	for i := range s.replies {
		if s.replies[i].when.holds(f) {
			return &s.replies[i], nil
		}
	}
	return nil, &provider.Error{
		Kind:     provider.InvalidRequest,
		Provider: "script",
		Message: message.Clean(fmt.Sprintf(
			"no reply in %s fits: scope %q, ordinal %d, attempt %d, %d tool results, %d tools offered, last user text %q",
			s.name, f.Scope, f.Ordinal, f.Attempt, f.results, len(f.tools), cut(f.lastUser, 80))),
	}
}

// cut shortens s to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
