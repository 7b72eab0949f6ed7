package session

import (
	"fmt"
	"unicode/utf8"

	"kagent/pkg/message"
)

// size is what an entry adds to a request, in characters, and what it does
// once notes stand for its outputs. Neither is less than what Chars counts.
func (e Entry) size() (whole, noted int) {
	if e.User != nil {
		n := utf8.RuneCountInString(e.User.Text)
		return n, n
	}
	for _, p := range e.Reply.Parts {
		if p.Type == message.TypeResult {
			continue
		}
		whole += utf8.RuneCountInString(p.Text) + len(p.Opaque)
		if p.Call != nil {
			whole += max(len(p.Call.Name), len("unnamed")) + max(utf8.RuneCountInString(p.Call.Arguments), len("{}"))
		}
	}
	noted = whole
	for _, c := range e.Reply.Calls {
		n := len(noResult)
		if c.Result != nil {
			n = utf8.RuneCountInString(c.Result.Text)
		}
		whole += n
		if note, ok := omitted(c.Result); ok {
			n = utf8.RuneCountInString(note)
		}
		noted += n
	}
	return whole, noted
}

// noteworthy is what an output has to be longer than to be left out: a note
// says less than a short output does.
const noteworthy = 200

// omitted is the note that stands for an output; false where that is short.
func omitted(r *ToolResult) (string, bool) {
	if r == nil || len(r.Text) <= noteworthy {
		return "", false
	}
	n := utf8.RuneCountInString(r.Text)
	if n <= noteworthy {
		return "", false
	}
	if r.Artifact != nil {
		return fmt.Sprintf("[tool output omitted … %d chars; read artifact:%s for all of it]", n, r.Artifact.Ref), true
	}
	return fmt.Sprintf("[tool output omitted … %d chars]", n), true
}
