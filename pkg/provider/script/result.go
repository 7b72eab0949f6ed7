package script

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kagent/pkg/message"
)

// Result is what a call is told in the place of running its tool.
type Result struct {
	Outcome  string // ok, error or timeout
	Text     string
	ExitCode *int
}

func newResult(n *yaml.Node) (*Result, error) {
	r := Result{Outcome: "ok"}
	given, err := mapping(n, fields{
		"outcome":   oneOf([]string{"ok", "error", "timeout"}, &r.Outcome),
		"text":      text(&r.Text),
		"exit_code": pointer(&r.ExitCode, func(to *int) setter { return number(math.MinInt32, math.MaxInt32, to) }),
	})
	if err == nil && !given["text"] {
		err = faultAt(n, `a result needs a text; write text: "" for an empty one`)
	}
	r.Text = message.Clean(r.Text)
	return &r, err
}

// id names a call that the script gives no name. Where a result belongs to it,
// the name leads back there: the tools are run by those who know nothing else
// of the reply. It holds a mark of the file, since that may change before the
// call is run.
func (s *Script) id(ordinal, reply, call int) string {
	id := fmt.Sprintf("script_%d_%d", ordinal, call+1)
	if s.replies[reply].calls[call].result != nil {
		id += fmt.Sprintf("_r%d_%s", reply+1, s.mark)
	}
	return id
}

// ResultOf returns what a call that one of the scripts made is to be told; false
// means that its tool runs.
func ResultOf(c message.ToolCall, scripts ...*Script) (Result, bool) {
	m := regexp.MustCompile(`^script_\d+_(\d+)_r(\d+)_([0-9a-f]{8})$`).FindStringSubmatch(c.ID)
	if m == nil {
		return Result{}, false
	}
	call, _ := strconv.Atoi(m[1])
	reply, _ := strconv.Atoi(m[2])
	for _, s := range scripts {
		if r := s.result(reply-1, call-1); r != nil && s.mark == m[3] {
			return *r, true
		}
	}
	return Result{Outcome: "error", Text: "the script has changed since this call was made: its result is gone"}, true
}

func (s *Script) result(reply, call int) *Result {
	if reply < 0 || reply >= len(s.replies) || call < 0 || call >= len(s.replies[reply].calls) {
		return nil
	}
	return s.replies[reply].calls[call].result
}

// exact reports whether arguments may stand in a script as an object: read from
// there they are the same bytes.
func exact(arguments string) bool {
	if !strings.HasPrefix(arguments, "{") {
		return false
	}
	root, err := jsonTree([]byte(arguments))
	if err != nil || sound(root) != nil {
		return false
	}
	var b strings.Builder
	return encode(&b, root) == nil && b.String() == arguments
}
