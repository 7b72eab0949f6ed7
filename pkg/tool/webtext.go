package tool

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"kagent/pkg/message"
)

// isWebText reports whether a media type is one of text.
func isWebText(kind string) bool {
	switch {
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"), strings.HasSuffix(kind, "+yaml"):
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/toml", "application/x-ndjson", "application/jsonl":
		return true
	}
	return false
}

func shortKind(kind string) string {
	if kind == "" {
		return "of an unknown kind"
	}
	return message.Clean(kind[:min(len(kind), 80)])
}

// webDecode reads a page in the encoding that its server, or else the page
// itself, names.
func webDecode(body []byte, charset, kind string) string {
	if charset == "" && strings.Contains(kind, "html") {
		charset = metaCharset(lowerASCII(string(body[:min(len(body), 4096)])))
	}
	if charset != "" {
		if enc, err := htmlindex.Get(charset); err == nil {
			if text, err := enc.NewDecoder().Bytes(body); err == nil {
				return string(text)
			}
		}
	}
	return string(body)
}

// metaCharset is what <meta charset=…> or its older form says.
func metaCharset(head string) string {
	_, after, ok := strings.Cut(head, "charset=")
	if !ok {
		return ""
	}
	name := strings.TrimLeft(after, `"' `)
	end := strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == ':')
	})
	return name[:max(end, 0)]
}

// lowerASCII keeps all places where they are, as strings.ToLower does not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// htmlText is a page without its markup: paragraphs, headings, list items, links.
// It goes through the page once.
func htmlText(page string, base *url.URL) string {
	w := htmlWriter{base: base}
	low := lowerASCII(page)
	for i := 0; i < len(page); {
		at := strings.IndexByte(page[i:], '<')
		if at < 0 {
			w.text(page[i:])
			break
		}
		w.text(page[i : i+at])
		i += at
		switch {
		case strings.HasPrefix(page[i:], "<!--"):
			i = past(page, i+4, "-->")
		case strings.HasPrefix(page[i:], "<!"), strings.HasPrefix(page[i:], "<?"):
			i = past(page, i+2, ">")
		case !startsTag(page[i:]):
			w.text("<")
			i++
		default:
			tag, next := readTag(page, i)
			i = next
			if w.tag(tag) {
				i = past(low, i, "</"+tag.name)
				i = past(page, i, ">")
			}
		}
	}
	return w.String()
}

// past is the place behind the next mark, the end where there is none.
func past(s string, from int, mark string) int {
	if from >= len(s) {
		return len(s)
	}
	at := strings.Index(s[from:], mark)
	if at < 0 {
		return len(s)
	}
	return from + at + len(mark)
}

func startsTag(s string) bool {
	s = strings.TrimPrefix(s[1:], "/")
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

type htmlTag struct {
	name      string
	ends      bool
	href, alt string
}

// readTag reads a tag and returns where it ends. A quote that is never closed
// takes the rest of the page, as it does for browsers.
func readTag(page string, at int) (htmlTag, int) {
	i := at + 1
	var quote byte
	for ; i < len(page) && (quote != 0 || page[i] != '>'); i++ {
		switch c := page[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && strings.HasSuffix(strings.TrimRight(page[max(at, i-8):i], " \t\n"), "="):
			quote = c
		}
	}
	inner := page[at+1 : i]
	t := htmlTag{ends: strings.HasPrefix(inner, "/")}
	inner = strings.TrimPrefix(inner, "/")
	end := strings.IndexFunc(inner, func(r rune) bool { return unicode.IsSpace(r) || r == '/' })
	if end < 0 {
		end = len(inner)
	}
	t.name = lowerASCII(inner[:end])
	if t.name == "a" {
		t.href = attribute(inner[end:], "href")
	}
	if t.name == "img" {
		t.alt = attribute(inner[end:], "alt")
	}
	return t, min(i+1, len(page))
}

// attribute finds the value of one.
func attribute(attributes, name string) string {
	low := lowerASCII(attributes)
	for from := 0; ; {
		at := strings.Index(low[from:], name)
		if at < 0 {
			return ""
		}
		at += from
		from = at + len(name)
		rest := strings.TrimLeftFunc(attributes[from:], unicode.IsSpace)
		if at > 0 && !unicode.IsSpace(rune(attributes[at-1])) || !strings.HasPrefix(rest, "=") {
			continue
		}
		value := strings.TrimLeftFunc(rest[1:], unicode.IsSpace)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			value, _, _ = strings.Cut(value[1:], value[:1])
		} else if end := strings.IndexFunc(value, unicode.IsSpace); end >= 0 {
			value = value[:end]
		}
		return html.UnescapeString(value)
	}
}

// htmlWriter gathers the text.
type htmlWriter struct {
	b     strings.Builder
	base  *url.URL
	space bool // one is due before the next word
	lines int  // line ends that are due
	pre   int  // depth of <pre>
	href  string
	from  int // where the text of the link begins
}

func (w *htmlWriter) String() string { return strings.TrimSpace(w.b.String()) }

// begin puts what is due.
func (w *htmlWriter) begin() {
	if w.b.Len() > 0 {
		if w.lines > 0 {
			w.b.WriteString(strings.Repeat("\n", min(w.lines, 2)))
		} else if w.space {
			w.b.WriteByte(' ')
		}
	}
	w.lines, w.space = 0, false
}

func (w *htmlWriter) text(s string) {
	s = html.UnescapeString(s)
	if w.pre > 0 {
		if s != "" {
			w.begin()
			w.b.WriteString(s)
		}
		return
	}
	for s != "" {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		if end > 0 {
			w.begin()
			w.b.WriteString(s[:end])
		}
		if s = s[end:]; s != "" {
			_, n := utf8.DecodeRuneInString(s)
			s, w.space = s[n:], true
		}
	}
}

// due asks for line ends before what comes next.
func (w *htmlWriter) due(lines int) { w.lines = max(w.lines, lines) }

// tag takes a tag in, and reports whether what is in it is left out.
func (w *htmlWriter) tag(t htmlTag) bool {
	switch t.name {
	case "script", "style", "noscript", "template", "svg", "iframe", "object", "head", "select", "textarea":
		return !t.ends && t.name != "head"
	case "br":
		w.due(w.lines + 1)
	case "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "table", "ul", "ol", "dl", "blockquote", "form", "figure", "hr", "title", "body":
		w.due(2)
	case "tr", "dt", "dd", "option", "figcaption", "summary", "details":
		w.due(1)
	case "td", "th":
		w.space = true
		if t.ends {
			w.text(" | ")
		}
	case "li":
		if w.due(1); !t.ends {
			w.begin()
			w.b.WriteString("- ")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if w.due(2); !t.ends {
			w.begin()
			w.b.WriteString(strings.Repeat("#", int(t.name[1]-'0')) + " ")
		}
	case "pre":
		if w.due(2); !t.ends {
			w.pre++
		} else if w.pre > 0 {
			w.pre--
		}
	case "img":
		w.text(t.alt)
	case "a":
		w.link(t)
	}
	return false
}

// link puts where a link leads behind its text.
func (w *htmlWriter) link(t htmlTag) {
	if !t.ends {
		w.href, w.from = t.href, w.b.Len()
		return
	}
	href := w.href
	w.href = ""
	if href == "" || strings.HasPrefix(href, "#") || len(href) > 2000 || strings.TrimSpace(w.b.String()[min(w.from, w.b.Len()):]) == "" {
		return
	}
	u, err := w.base.Parse(strings.TrimSpace(href))
	if err != nil || checkWebURL(u) != nil {
		return
	}
	w.b.WriteString(" (" + u.String() + ")")
}
