package tool

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// web serves pages, and notes what it was asked.
func web(t *testing.T, pages map[string]http.HandlerFunc) (address string, asked *[]http.Header) {
	asked = &[]http.Header{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Header.Clone())
		if serve := pages[r.URL.Path]; serve != nil {
			serve(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func serves(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, body)
	}
}

func fetch(t *testing.T, o WebFetchOptions, args obj) Result {
	t.Helper()
	return run(t, WebFetch(o), args)
}

func TestAPageComesAsText(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("你好")
	if err != nil {
		t.Fatal(err)
	}
	at, asked := web(t, map[string]http.HandlerFunc{
		"/html": serves("text/html; charset=utf-8", `<!DOCTYPE html><html><head><title>T &amp; T</title><style>p{}</style><script>if (a<b) "</p>"</script></head>
<body><!-- <p>no</p> --><h2>Über</h2><p>one   <b>two</b>
three</p><ul><li>a<li>b</ul><a href="/x?a=1&amp;b=2" title="a > b">link</a><a href="javascript:x">js</a><pre>  kept
  so</pre>1 < 2<table><tr><td>c<td>d</table><img alt="مرحبا 👋"></body>`),
		"/json": serves("application/json", `{"a": "<b>"}`),
		"/gbk":  serves("text/html", `<meta charset="gbk"><p>`+gbk),
		"/bad":  serves("text/plain", "a\xff\x00b"),
		"/bin":  serves("image/png", "\x89PNG"),
		"/none": serves("text/html", "<script>x"),
		"/gone": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such page", http.StatusGone) },
	})
	for path, want := range map[string]string{
		"/html": "T & T\n\n## Über\n\none two three\n\n- a\n- b\n\nlink (" + at + "/x?a=1&b=2)js\n\n  kept\n  so\n\n1 < 2\n\nc d\n\nمرحبا 👋",
		"/json": `{"a": "<b>"}`,
		"/gbk":  "你好",
		"/bad":  "a\ufffd\ufffdb",
		"/none": "[the page has no text]",
	} {
		r := fetch(t, WebFetchOptions{Private: true}, obj{"url": at + path})
		if _, text, _ := strings.Cut(r.Text, "\n\n"); r.Outcome != OK || text != want {
			t.Errorf("%s: %s\n%q, want\n%q", path, r.Outcome, text, want)
		}
	}
	for path, want := range map[string]string{"/bin": "image/png, which can't be shown", "/gone": "(status 410, text/plain)\n\nno such page"} {
		r := fetch(t, WebFetchOptions{Private: true}, obj{"url": at + path})
		if r.Outcome != Failed {
			t.Errorf("%s: %s", path, r.Outcome)
		}
		wantText(t, r.Text, want)
	}
	for _, h := range *asked {
		for _, name := range []string{"Cookie", "Authorization", "Referer"} {
			if h.Get(name) != "" {
				t.Errorf("%s: %s was sent", name, h.Get(name))
			}
		}
	}
}

// Neither a name, nor a spelling, nor a redirect leads to this machine, into a
// private network or to where clouds keep their keys.
func TestPrivateAddressesAreNotFetched(t *testing.T) {
	at, asked := web(t, map[string]http.HandlerFunc{"/": serves("text/plain", "secret")})
	port := at[strings.LastIndex(at, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0.0.0.0", "[::]"} {
		r := fetch(t, WebFetchOptions{}, obj{"url": "http://" + host + port})
		if r.Outcome == OK || strings.Contains(r.Text, "secret") {
			t.Errorf("%s: %s %q", host, r.Outcome, r.Text)
		}
	}
	if len(*asked) > 0 {
		t.Errorf("it was asked %d times", len(*asked))
	}
	for _, a := range []string{
		"169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1",
		"224.0.0.1", "255.255.255.255", "fd00:ec2::254", "fe80::1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::127.0.0.1", "::ffff:10.0.0.1",
	} {
		if !isPrivate(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range []string{"1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"} {
		if isPrivate(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as private", a)
		}
	}
}

// A proxy is not a way around that.
func TestAProxyIsNotAskedForPrivateAddresses(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
			return
		}
		io.WriteString(w, "by the proxy")
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := WebFetchOptions{Proxy: http.ProxyURL(u)}
	for target, want := range map[string]string{
		"http://1.1.1.1/":                  "by the proxy",
		"http://1.1.1.1/away":              "which is not fetched",
		"http://169.254.169.254/":          "which is not fetched",
		"http://localhost:1/":              "which is not fetched",
		"http://no-such-host.invalid./all": "by the proxy",
	} {
		if r := fetch(t, o, obj{"url": target}); !strings.Contains(r.Text, want) {
			t.Errorf("%s: %q", target, r.Text)
		}
	}
	for _, target := range asked {
		if strings.Contains(target, "169.254") || strings.Contains(target, "localhost") {
			t.Errorf("the proxy was asked for %s", target)
		}
	}
}

func TestRedirectsAreFollowedAsFarAsTheyLeadToPages(t *testing.T) {
	at, asked := web(t, map[string]http.HandlerFunc{
		"/a": func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "c", Value: "v"})
			http.Redirect(w, r, "/b", http.StatusFound)
		},
		"/b":    serves("text/plain", "here"),
		"/loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) },
		"/file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
		"/user": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://u:p@"+r.Host+"/b", http.StatusFound)
		},
	})
	for path, want := range map[string]string{
		"/a?key=k": at + "/b (status 200, text/plain)\n\nhere",
		"/loop":    "redirected more than 5 times",
		"/file":    "begins with http:// or https://",
		"/user":    "must not hold a user",
	} {
		if r := fetch(t, WebFetchOptions{Private: true}, obj{"url": at + path}); !strings.Contains(r.Text, want) {
			t.Errorf("%s: %q", path, r.Text)
		}
	}
	for _, h := range *asked {
		if h.Get("Referer")+h.Get("Cookie")+h.Get("Authorization") != "" {
			t.Errorf("sent: %v", h)
		}
	}
}

func TestWhatIsNoAddressIsSaidSo(t *testing.T) {
	for target, want := range map[string]string{
		"file:///etc/passwd": "begins with http", "ftp://x/": "begins with http", "example.com": "begins with http", "http://": "names no host",
		"http://me:secret@example.com/": "must not hold a user", "http://[::1": "is no address", "http://a b/": "is no address", "https:///x": "names no host",
		"http://no-such-host.invalid/": "no host",
	} {
		r := fetch(t, WebFetchOptions{Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}, obj{"url": target})
		if r.Outcome != Failed || strings.Contains(r.Text, "secret") {
			t.Errorf("%s: %s %q", target, r.Outcome, r.Text)
		}
		if target != "http://no-such-host.invalid/" { // there may be no network here
			wantText(t, r.Text, want)
		}
	}
}

// A page of any size, also one that is small until it is unpacked, is bounded;
// the whole of what was read can be read on.
func TestLongPagesAreCut(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 300 {
		z.Write(bytes.Repeat([]byte("长 text "), 1000))
	}
	z.Close()
	at, _ := web(t, map[string]http.HandlerFunc{
		"/long": serves("text/plain", strings.Repeat("大", 30_000)+"the end"),
		"/bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
		},
	})
	store := &shelf{}
	r := WebFetch(WebFetchOptions{Private: true}).Run(t.Context(), Call{Args: []byte(fmt.Sprintf(`{"url":%q,"max_chars":100}`, at+"/long")), Artifacts: store})
	wantText(t, r.Text, "29907 of 30007 characters left out; to see the whole output (90007 bytes), call read_file with path \"artifact:")
	if r.Artifact == nil || r.Omitted != 90007-300 || utf8.RuneCountInString(r.Text) > 500 {
		t.Errorf("%+v", r)
	}
	r = fetch(t, WebFetchOptions{Private: true, Bytes: 1 << 20}, obj{"url": at + "/bomb"})
	wantText(t, r.Text, "characters left out", "only its first 1048576 bytes were read")
}

func TestSecretsOfAPageAreMasked(t *testing.T) {
	at, _ := web(t, map[string]http.HandlerFunc{"/": serves("text/html", "<p>the key is hunter2-hunter2")})
	r := fetch(t, WebFetchOptions{Private: true, Mask: NewMasker([]string{"MY_TOKEN=hunter2-hunter2"})}, obj{"url": at + "/?hunter2-hunter2"})
	if strings.Contains(r.Text, "hunter2") {
		t.Errorf("%q", r.Text)
	}
}

// A server that says nothing holds nobody longer than its time, or than the run.
func TestASilentServerIsLeft(t *testing.T) {
	over := make(chan struct{})
	at, _ := web(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { <-over }})
	defer close(over)
	r := fetch(t, WebFetchOptions{Private: true, Timeout: 10 * time.Millisecond}, obj{"url": at})
	if r.Outcome != Timeout {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r = WebFetch(WebFetchOptions{Private: true}).Run(ctx, Call{Args: []byte(fmt.Sprintf(`{"url":%q}`, at))})
	if r.Outcome != Stopped {
		t.Errorf("%+v", r)
	}
}

func FuzzHTMLText(f *testing.F) {
	base := &url.URL{Scheme: "http", Host: "h"}
	for _, seed := range []string{"<p>a", "<a href='x'>b</a>", "<a href=\"", "<!--", "<script>", "</", "<", "&#x;", "<td", "<h1/>", "<pre></pre></pre>", "<a\xff=>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := htmlText(s, base); len(got) > 20*len(s)+100 {
			t.Errorf("%d bytes of %d", len(got), len(s))
		}
	})
}
