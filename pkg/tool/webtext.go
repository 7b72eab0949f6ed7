package tool

import (
	"mime"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

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

// webDecode reads a page in the encoding that its server or its mark of byte order
// names; of a page of HTML also in the one that it names itself.
func webDecode(body []byte, contentType, kind string) string {
	if _, params, _ := mime.ParseMediaType(contentType); params["charset"] == "" && !isHTML(kind) {
		return string(body)
	}
	enc, _, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if !certain && utf8.Valid(body) {
		return string(body)
	}
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return string(body)
	}
	return string(text)
}

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// htmlText is a page without its markup: paragraphs, headings, list items, links.
// It goes through the page once.
func htmlText(page string, base *url.URL) string {
	w := htmlWriter{base: base}
	z := html.NewTokenizer(strings.NewReader(page))
	hidden := "" // the element that is being left out
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return w.String()
		case html.TextToken:
			if hidden == "" {
				w.text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			t := htmlTag{name: string(name), ends: kind == html.EndTagToken}
			for more && hidden == "" {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch t.name + " " + string(key) {
				case "a href", "img alt":
					t.value = string(value)
				}
			}
			switch {
			case hidden == "" && !t.ends && kind == html.StartTagToken && isHidden(t.name):
				hidden = t.name
			case hidden == "":
				w.tag(t)
			case t.ends && t.name == hidden:
				hidden = ""
			}
		}
	}
}

// isHidden: what browsers don't show as text of the page.
func isHidden(name string) bool {
	switch name {
	case "script", "style", "noscript", "template", "svg", "iframe", "object", "select", "textarea":
		return true
	}
	return false
}

type htmlTag struct {
	name  string
	ends  bool
	value string // of the attribute that counts
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

func (w *htmlWriter) tag(t htmlTag) {
	switch t.name {
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
		w.text(t.value)
	case "a":
		w.link(t)
	}
}

// link puts where a link leads behind its text.
func (w *htmlWriter) link(t htmlTag) {
	if !t.ends {
		w.href, w.from = t.value, w.b.Len()
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
