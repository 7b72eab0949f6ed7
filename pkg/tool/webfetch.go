package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"kagent/pkg/message"
)

// WebFetchOptions are the settings of the tool web_fetch. The zero value is
// useful.
type WebFetchOptions struct {
	Timeout time.Duration // of a call; 0: 30 s
	Bytes   int64         // read of a page at most; 0: 5 MiB
	Chars   int           // returned where a call names no number; 0: 20,000
	Private bool          // also take addresses of this machine and of private networks
	Mask    *Masker       // hides secrets in what comes; nil: none
	Agent   string        // the name that servers are told; "": kagent
	// Proxy is that of a request, nil for none; nil: what the environment says.
	Proxy func(*http.Request) (*url.URL, error)
}

const (
	maxWebChars  = 100_000
	maxRedirects = 5
)

type webFetch struct{ opts WebFetchOptions }

// WebFetch returns the tool web_fetch, which gets a page of the web as text. It
// sends no cookie, no key and no Referer.
func WebFetch(opts WebFetchOptions) Tool {
	if opts.Timeout <= 0 {
		opts.Timeout = 30 * time.Second
	}
	if opts.Bytes <= 0 {
		opts.Bytes = 5 << 20
	}
	if opts.Chars <= 0 {
		opts.Chars = 20_000
	}
	if opts.Agent == "" {
		opts.Agent = "kagent"
	}
	if opts.Proxy == nil {
		opts.Proxy = http.ProxyFromEnvironment
	}
	return webFetch{opts}
}

type webArgs struct {
	URL   string `json:"url"`
	Chars count  `json:"max_chars"`
}

func (t webFetch) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "web_fetch",
		Description: "Get a page of the public web by GET and return it as text, HTML without its markup and with its links. " +
			"Of a long page only the beginning is returned, and how to read the whole. Addresses of this machine and of private networks are refused.",
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
			`"url":{"type":"string","minLength":1,"description":"an http or https address"},`+
			`"max_chars":{"type":"integer","minimum":1,"maximum":%d,"description":"characters to return at most (default %d)"}},`+
			`"required":["url"],"additionalProperties":false}`, maxWebChars, t.opts.Chars)),
	}
}

// A GET may be repeated: that is what HTTP means by it.
func (webFetch) Traits() Traits { return Traits{Class: Network, Idempotent: true} }

func (t webFetch) Run(ctx context.Context, call Call) Result {
	args, err := decode[webArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	u, err := url.Parse(strings.TrimSpace(args.URL))
	if err != nil { // it repeats the address, that may hold anything
		return Fail("url: it is no address")
	}
	if err := checkWebURL(u); err != nil {
		return Fail("url: " + err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	page, err := t.get(limited, u)
	switch {
	case err != nil && ctx.Err() != nil:
		return Result{Outcome: Stopped, Text: "[stopped before the page had come]"}
	case err != nil && limited.Err() != nil:
		return Result{Outcome: Timeout, Text: fmt.Sprintf("[the page did not come within %v]", t.opts.Timeout)}
	case err != nil:
		return Fail(t.opts.Mask.Mask(webReason(err)))
	}
	most := t.opts.Chars
	if args.Chars > 0 {
		most = min(int(args.Chars), maxWebChars)
	}
	return t.show(page, most, call.Artifacts)
}

// webPage is what came.
type webPage struct {
	url    *url.URL // after redirects
	status int
	kind   string // media type
	text   string
	cut    bool // the page is longer than what was read of it
}

func (t webFetch) get(ctx context.Context, u *url.URL) (webPage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return webPage{}, errors.New("it is no address")
	}
	req.Header.Set("User-Agent", t.opts.Agent)
	req.Header.Set("Accept", "text/html, text/plain, application/json, application/xml;q=0.9, text/*;q=0.9, */*;q=0.1")
	way := newWebWay(t.opts)
	defer way.close()
	client := http.Client{Transport: way, CheckRedirect: followWeb}
	res, err := client.Do(req)
	if err != nil {
		return webPage{}, err
	}
	defer res.Body.Close()
	p := webPage{url: res.Request.URL, status: res.StatusCode}
	said := res.Header.Get("Content-Type")
	p.kind, _, _ = mime.ParseMediaType(said)
	body, err := io.ReadAll(io.LimitReader(res.Body, t.opts.Bytes+1))
	if err != nil {
		return webPage{}, err
	}
	if p.cut = int64(len(body)) > t.opts.Bytes; p.cut {
		body = body[:t.opts.Bytes]
	}
	if p.kind == "" {
		p.kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	if !isWebText(p.kind) {
		return webPage{}, fmt.Errorf("%s is %s, which can't be shown as text", p.url.Redacted(), shortKind(p.kind))
	}
	p.text = webDecode(body, said, p.kind)
	if isHTML(p.kind) {
		p.text = htmlText(p.text, p.url)
	}
	return p, nil
}

// followWeb checks each redirect. What the page before was is nobody's business.
func followWeb(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("it was redirected more than %d times", maxRedirects)
	}
	req.Header.Del("Referer")
	if err := checkWebURL(req.URL); err != nil {
		return fmt.Errorf("it redirects to another address: %w", err)
	}
	return nil
}

// show is the page as the model sees it.
func (t webFetch) show(p webPage, most int, store Artifacts) Result {
	text := t.opts.Mask.Mask(message.Clean(p.text))
	head := fmt.Sprintf("%s (status %d, %s)\n\n", t.opts.Mask.Mask(message.Clean(p.url.String())), p.status, shortKind(p.kind))
	r := Result{Outcome: OK}
	if p.status >= 400 {
		r.Outcome, most = Failed, min(most, 2000)
	}
	if strings.TrimSpace(text) == "" {
		text = "[the page has no text]"
	}
	if all := utf8.RuneCountInString(text); all > most {
		whole := text
		text = string([]rune(text)[:most])
		s := spill{store: store}
		s.write([]byte(whole))
		var note string
		r.Artifact, note = s.keep(true)
		r.Omitted = int64(len(whole) - len(text))
		text += fmt.Sprintf("\n[… %d of %d characters left out%s …]", all-most, all, note)
	}
	if p.cut {
		text += fmt.Sprintf("\n[the page is longer: only its first %d bytes were read]", t.opts.Bytes)
	}
	r.Text = head + text
	return r
}
