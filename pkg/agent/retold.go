package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// leastPiece is what at least is told of each piece; where that is too much,
// the oldest are left out.
const leastPiece = 80

// retold is what is to be summarised, in at most limit characters: the summary
// so far, then what was said and done since, piece by piece. The longest pieces
// are cut until all fit.
func retold(p session.Past, prior string, limit int, instructions string) string {
	prior = clip(prior, limit/2)
	limit -= utf8.RuneCountInString(prior)
	pieces := piecesOf(p.Entries)
	left := 0
	if most := limit / leastPiece; len(pieces) > most {
		left = len(pieces) - most
		pieces = pieces[left:]
	}
	most := share(pieces, limit)
	var said strings.Builder
	if left > 0 {
		fmt.Fprintf(&said, "(%d earlier pieces are left out)\n\n", left)
	}
	for _, piece := range pieces {
		said.WriteString(clip(piece, most) + "\n\n")
	}
	var b brief
	b.section("Summary so far", prior).section("What was said and done since", said.String()).
		section("What the user asks of the summary", shorten(instructions, 8<<10))
	return b.String() + "\n\nWrite the summary of all this now."
}

// piecesOf are the pieces of a conversation, each with who says it.
func piecesOf(entries []session.Entry) (pieces []string) {
	for _, e := range entries {
		if e.User != nil {
			who := "User: "
			if e.User.Source == session.FromAgent {
				who = "Note to the agent: "
			}
			pieces = append(pieces, who+e.User.Text)
			continue
		}
		if text := strings.TrimSpace(e.Reply.Text()); text != "" {
			pieces = append(pieces, "Agent: "+text)
		}
		for _, c := range e.Reply.Calls {
			pieces = append(pieces, fmt.Sprintf("Call: %s %s", c.Wire.Name, c.Wire.Arguments))
			if c.Result != nil {
				pieces = append(pieces, fmt.Sprintf("Result (%s): %s", c.Result.Outcome, c.Result.Text))
			}
		}
	}
	return pieces
}

// share is the length that pieces have to be cut to, so that all of them have
// limit characters: the short ones stay whole.
func share(pieces []string, limit int) int {
	var sizes []int
	for _, p := range pieces {
		sizes = append(sizes, utf8.RuneCountInString(p)+2)
	}
	return max(session.Waterline(sizes, limit)-2, 0)
}

// clip takes from the middle of a text what is more than n characters.
func clip(text string, n int) string {
	const gap = " […] "
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(message.Clean(text))
	if n <= 2*len(gap) {
		return string(runes[:max(n, 0)])
	}
	n -= utf8.RuneCountInString(gap)
	head := n * 2 / 3
	return string(runes[:head]) + gap + string(runes[len(runes)-n+head:])
}
