//go:build faults

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// event is a line of the log, or of -o jsonl.
type event struct {
	Seq   int64           `json:"seq"`
	Epoch int64           `json:"epoch"`
	Time  string          `json:"time"`
	Scope string          `json:"scope"`
	Type  string          `json:"type"`
	Data  json.RawMessage `json:"data"`

	crc  string
	end  int64 // offset after the line
	told *eventData
}

func (e event) same(o event) bool {
	return e.Seq == o.Seq && e.Epoch == o.Epoch && e.Time == o.Time && e.Scope == o.Scope && e.Type == o.Type && bytes.Equal(e.Data, o.Data)
}

// eventData are the fields that the check looks at, of any kind of event.
type eventData struct {
	Status, Reason         string
	Call, Tool, Key        string
	Outcome, Verdict, Text string
	From                   string
	Before                 int64
	Attempt                int
	Change                 *struct{ Path, Before, After string }
	Settings               struct{ OnUnknown string }
	Artifact               *struct {
		Ref   string
		Bytes int64
	}
	Parts []struct {
		Call *struct{ Name, Arguments string }
	}
}

// data is what the event says; it is read once, as the check asks for it often.
func (e event) data() eventData {
	if e.told != nil {
		return *e.told
	}
	var d eventData
	_ = json.Unmarshal(e.Data, &d) // fields that have other types elsewhere stay empty
	return d
}

// goodLines reads a log up to the first line that is cut, changed or out of
// the chain. It follows the format, not the program.
func goodLines(b []byte) (good []event, rest []byte) {
	rest, prev, end := b, "00000000", int64(0)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		const open = `{"crc":"00000000",`
		if !whole || len(line) <= len(open) {
			return good, rest
		}
		body := line[len(open):]
		crc := fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli))
		var l struct {
			event
			CRC, Prev string
		}
		if json.Unmarshal(line, &l) != nil || l.CRC != crc || l.Prev != prev || l.Seq != int64(len(good))+1 {
			return good, rest
		}
		end += int64(len(line)) + 1
		told := l.data()
		l.crc, l.end, l.told = crc, end, &told
		good = append(good, l.event)
		rest, prev = after, crc
	}
	return good, nil
}
