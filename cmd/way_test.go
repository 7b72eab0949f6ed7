package cmd

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// A keeper is a service that is overloaded and keeps what it was sent to get in.
type keeper struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string // Authorization, X-Api-Key and X-Team of each request
}

func newKeeper(t *testing.T) *keeper {
	k := &keeper{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.sent = append(k.sent, strings.TrimSpace(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+" "+r.Header.Get("X-Team")))
		k.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(k.Close)
	return k
}

// take returns what came since the last time.
func (k *keeper) take() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	sent := k.sent
	k.sent = nil
	return sent
}

// twoServices are known in dir: here/… and there/…, each with an address of its own.
func twoServices(t *testing.T, dir string) (here, there *keeper) {
	here, there = newKeeper(t), newKeeper(t)
	os.MkdirAll(filepath.Join(dir, "kagent"), 0o700)
	os.WriteFile(filepath.Join(dir, "kagent", "models.yaml"), fmt.Appendf(nil, `services:
  here: {protocol: openai-chat, base: %q, keys: [HERE_KEY]}
  there: {protocol: anthropic, base: %q, keys: [THERE_KEY]}
`, here.URL, there.URL), 0o600)
	return here, there
}

// A key is for its own service: whoever goes on with another one leaves address,
// key and headers of the old one behind, is told so, and can give them anew.
func TestAnotherServiceIsNotReachedAtTheOldOnesAddress(t *testing.T) {
	const refused = "the session's address is that of here, which is no longer first; give --base-url (or --base-url '' for its usual address)"
	for _, to := range [][]string{
		{"resume", "s"},
		{"resume", "--interrupted"},
		{"run", "-s", "s", "--if-exists", "resume", "--stdin", "none", "go"},
		{"run", "-s", "s", "--if-exists", "continue", "--stdin", "none", "more"},
	} {
		dir := t.TempDir()
		here, there := twoServices(t, dir)
		proxy, anew := newKeeper(t), newKeeper(t)
		kagent := func(args ...string) string {
			c, out := kagentIn(t, dir, args...)
			c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "HERE_KEY=key-of-here", "OTHER_KEY=other-of-here", "THERE_KEY=key-of-there")
			c.Run()
			return out.String()
		}
		with := func(more ...string) string { return kagent(slices.Concat(to[:1], more, to[1:])...) }
		kagent("run", "-s", "s", "--retries", "0", "-m", "here/a,there/b", "--base-url", proxy.URL, "--api-key-env", "OTHER_KEY", "--header", "X-Team: red", "--stdin", "none", "go")
		if sent := proxy.take(); !slices.Equal(sent, []string{"Bearer other-of-here red"}) {
			t.Fatalf("%q", sent)
		}
		if sent := there.take(); !slices.Equal(sent, []string{"key-of-there"}) {
			t.Fatalf("the chain's second: %q", sent)
		}
		if said := with("-m", "here/c"); strings.Contains(said, "no longer") || !slices.Equal(proxy.take(), []string{"Bearer other-of-here red"}) {
			t.Errorf("%q: the same service: %s", to, said)
		}
		if said := with("-m", "there/b,here/a"); !strings.Contains(said, refused) || len(there.take())+len(here.take()) > 0 {
			t.Errorf("%q: the chain turned round: %s", to, said)
		}
		gone := "--api-key-env, --header of the session was meant for here and no longer applies: give it anew if there needs it; there is asked at " + there.URL
		if said := with("-m", "there/b,here/a", "--base-url", ""); strings.Count(said, gone) != 1 || !slices.Equal(there.take(), []string{"key-of-there"}) || !slices.Equal(here.take(), []string{"Bearer key-of-here"}) {
			t.Errorf("%q: the chain turned round, at its usual addresses: %s", to, said)
		}
		if said := with("-m", "here/a", "--base-url", anew.URL); strings.Contains(said, "no longer") || !slices.Equal(anew.take(), []string{"Bearer key-of-here"}) {
			t.Errorf("%q: an address given anew: %s", to, said)
		}
		if said := with("-m", "demo"); !strings.Contains(said, "--base-url of the session was meant for here and no longer applies: give it anew if demo needs it") {
			t.Errorf("%q: %s", to, said)
		}
		if sent := slices.Concat(proxy.take(), here.take()); len(sent) > 0 {
			t.Errorf("%q: the old addresses got %q", to, sent)
		}
	}
}

// What the session says of its own service is not for the models of profiles.
func TestAChildOnAnotherServiceIsReachedAtItsOwnAddress(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HERE_KEY", "key-of-here")
	t.Setenv("THERE_KEY", "key-of-there")
	t.Setenv("OTHER_KEY", "other-of-here")
	_, there := twoServices(t, dir)
	proxy := newKeeper(t)
	a := &app{dir: filepath.Join(dir, ".kagent-sessions"), out: newOutput(os.Stdout), stderr: io.Discard, format: "text", signals: &signals{ctx: t.Context()}, orphans: func() *tool.Orphans { return nil }}
	ask := func(own, model string) {
		settings := session.Settings{Agent: "orchestrator", Workdir: dir, Model: own, BaseURL: proxy.URL, APIKeyEnv: "OTHER_KEY", Headers: []string{"X-Team: red"}}
		j, err := a.store().Create(strings.NewReplacer("/", "-", ":", "-", ",", "-").Replace(own+model), session.Created{Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		r, err := a.runner(j, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Models(model)
		if err != nil {
			t.Fatal(err)
		}
		p.Stream(t.Context(), provider.Request{Messages: []message.Message{{Role: message.User, Parts: []message.Part{{Type: message.TypeText, Text: "go"}}}}}, func(provider.Event) {})
	}
	ask("here/a", "there/b")
	ask("script:x,here/a", "there/b")
	if sent := there.take(); len(proxy.take()) > 0 || !slices.Equal(sent, []string{"key-of-there", "key-of-there"}) {
		t.Errorf("%q", sent)
	}
	ask("here/a", "here/b")
	ask("demo", "here/b") // nobody else has a use for what was given
	if sent := proxy.take(); !slices.Equal(sent, []string{"Bearer other-of-here red", "Bearer other-of-here red"}) {
		t.Errorf("%q", sent)
	}
}
