package providertest

import (
	"bytes"
	"compress/gzip"
	"strings"
)

// frame writes events in the plainest way.
func (w Wire) frame(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		if w.NDJSON {
			b.WriteString(e.Data + "\n")
			continue
		}
		if e.Type != "" {
			b.WriteString("event: " + e.Type + "\n")
		}
		b.WriteString("data: " + e.Data + "\n\n")
	}
	return b.String()
}

// dresses returns the same stream in each of the ways in which servers and
// proxies are known to write it.
func (w Wire) dresses(events []Event) map[string]string {
	plain := w.frame(events)
	all := map[string]string{
		"plain":               plain,
		"CRLF":                strings.ReplaceAll(plain, "\n", "\r\n"),
		"byte order mark":     "\ufeff" + plain,
		"no final newline":    strings.TrimRight(plain, "\n"),
		"blank lines first":   "\n\n\r\n" + plain,
		"blank lines between": strings.ReplaceAll(plain, "\n", "\n\n"),
		"gzip without header": zip(plain),
		"unknown events":      w.frame(w.between(events)),
	}
	if w.NDJSON {
		all["blanks around"] = strings.ReplaceAll("\n"+plain, "\n", " \t\n ")
		return all
	}
	delete(all, "blank lines between") // would end an event between its lines
	spaces := strings.NewReplacer("data: ", "data:", "event: ", "event:")
	all["CR"] = strings.ReplaceAll(plain, "\n", "\r")
	all["one final newline"] = strings.TrimSuffix(plain, "\n")
	all["no space after the colon"] = spaces.Replace(plain)
	all["comments"] = ": hello\n\n" + strings.ReplaceAll(plain, "\n\n", "\n:\n\n: keep-alive\n\n") + ": bye\n\n"
	all["ids and other fields"] = "retry: 1000\n\n" + strings.ReplaceAll(plain, "\n\n", "\nid: 1\nfoo\nbar: x\n\n")
	all["events without data"] = "event: ping\n\n" + strings.ReplaceAll(plain, "\n\n", "\n\nid: 2\n\n:\n\n\n")
	all["no event names"] = w.nameless(events)
	return all
}

// between puts the unknown events after each event but the last.
func (w Wire) between(events []Event) []Event {
	list := append([]Event(nil), w.Unknown...)
	for i, e := range events {
		list = append(list, e)
		if i < len(events)-1 {
			list = append(list, w.Unknown...)
		}
	}
	return list
}

func (w Wire) nameless(events []Event) string {
	list := append([]Event(nil), events...)
	for i := range list {
		list[i].Type = ""
	}
	return w.frame(list)
}

func zip(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s)) // a buffer: can't fail
	z.Close()
	return b.String()
}
