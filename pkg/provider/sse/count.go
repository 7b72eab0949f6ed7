package sse

import (
	"math"
	"strconv"
	"strings"

	"kagent/pkg/message"
)

// Count is a number of tokens as a service tells it, or one of those below.
type Count int64

const (
	Unreadable Count = -1 // no number, or none that a reply can take
	Untold     Count = -2 // null, or less than nothing
)

// mostTokens is more than any reply takes: beyond it a number is nonsense.
const mostTokens = 1e9

func (c *Count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	switch {
	case string(raw) == "null", f < 0:
		*c = Untold
	case err == nil && f <= mostTokens && f == math.Trunc(f):
		*c = Count(f)
	default:
		*c = Unreadable
	}
	return nil
}

// N returns the number, 0 where there is none.
func (c Count) N() int64 { return int64(max(c, 0)) }

// Says reports whether some of the counts, of which a bill is made, tell anything.
func Says(counts ...Count) bool {
	for _, c := range counts {
		if c != 0 && c != Untold {
			return true
		}
	}
	return false
}

// Told returns m if all of the counts that it is made of could be read, else
// nothing: half a bill would be taken for the whole. Nor is there a reply to no
// input.
func Told(m message.Usage, counts ...Count) message.Usage {
	for _, c := range counts {
		if c < 0 {
			return message.Usage{}
		}
	}
	if m.Input == 0 {
		return message.Usage{}
	}
	return m
}
