package cmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/session"
)

// What lets somebody in is neither stored with a session nor repeated.
func TestCredentialsAreTakenFromVariablesAlone(t *testing.T) {
	for _, args := range [][]string{
		{"--header", "Helicone-Auth: hunter2hunter2"},
		{"--header", "cf-aig-token: Bearer hunter2hunter2"},
		{"--header", "X-Tok: bearer hunter2hunter2"},
		{"--header", "X-Custom: sk-hunter2hunter2"},
		{"--header", "Cookie: session=hunter2hunter2"},
		{"--api-key-env", "sk-hunter2hunter2"},
		{"--env", "MY_KEY=hunter2hunter2"},
		{"--env", "sk-hunter2hunter2 x"},
		{"--base-url", "https://hunter2hunter2@example.com"},
		{"--base-url", "https://example.com/?api_key=hunter2hunter2"},
	} {
		c, out := kagentIn(t, t.TempDir(), append([]string{"run", "-m", "openai/gpt-5-mini", "--stdin", "none", "go"}, args...)...)
		c.Run()
		if said := out.String(); c.ProcessState.ExitCode() != 2 || strings.Contains(said, "hunter2") || !strings.Contains(said, args[0]) {
			t.Errorf("%q: exit %d: %s", args, c.ProcessState.ExitCode(), said)
		}
	}
	for _, line := range []string{"X-Title: kagent", "Helicone-Auth: $HELICONE", "HTTP-Referer: https://example.com"} {
		if err := checkHeaders([]string{line}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A user's own services hold no secrets either: they are shown.
func TestSecretsInTheModelsFileAreRefused(t *testing.T) {
	for _, service := range []string{
		`{protocol: openai-chat, base: "https://u:hunter2hunter2@example.com/v1"}`,
		`{protocol: openai-chat, base: "https://hunter2hunter2@example.com/v1"}`,
		`{protocol: ollama, base: "https://example.com/v1?api_key=hunter2hunter2"}`,
		`{protocol: ollama, base: "https://u:hunter2hunter2@exa mple.com:x/"}`,
		`{protocol: gemini, base: "https://example.com", keys: [sk-hunter2hunter2]}`,
		`{protocol: gemini, base: "https://example.com", keys: sk-hunter2hunter2}`,
		`{protocol: gemini, base: "https://example.com", header: {x: hunter2hunter2}}`,
	} {
		dir := t.TempDir()
		os.MkdirAll(filepath.Join(dir, "kagent"), 0o700)
		os.WriteFile(filepath.Join(dir, "kagent", "models.yaml"), []byte("services:\n  mine: "+service), 0o600)
		for _, args := range [][]string{{"models", "--services"}, {"run", "-m", "mine/x", "--stdin", "none", "go"}} {
			c, out := kagentIn(t, dir, args...)
			c.Env = append(c.Env, "XDG_CONFIG_HOME="+dir)
			c.Run()
			if said := out.String(); c.ProcessState.ExitCode() != 2 || strings.Contains(said, "hunt") || !strings.Contains(said, "models.yaml") {
				t.Errorf("%s: %q: exit %d: %s", service, args, c.ProcessState.ExitCode(), said)
			}
		}
	}
}

// What a file or a command put into a variable may be more than the key.
func TestAKeyWithAnotherLineIsToldByItsVariable(t *testing.T) {
	for _, c := range []struct{ variable, flag, value string }{
		{"MY_KEY", "--api-key-env", "MY_KEY"},
		{"OPENAI_API_KEY", "--api-key-env", "OPENAI_API_KEY"},
		{"SECOND", "--header", "X-Gateway: $SECOND"},
	} {
		for _, held := range []string{"hunter2\nhunter2", "hunter2\rhunter2", "hunter2\x1bhunter2", "\nhunter2\thunter2\n"} {
			cmd, out := kagentIn(t, t.TempDir(), "run", "-m", "openai/x", "--base-url", "http://127.0.0.1:1", "--retries", "0", "--stdin", "none", c.flag, c.value, "go")
			cmd.Env = append(cmd.Env, c.variable+"="+held)
			cmd.Run()
			said := out.String()
			if cmd.ProcessState.ExitCode() != 2 || strings.Contains(said, "hunter2") || !strings.Contains(said, "value of "+c.variable+" holds a line break") {
				t.Errorf("%s=%q: exit %d: %s", c.variable, held, cmd.ProcessState.ExitCode(), said)
			}
		}
	}
}

// docker's --env-file keeps quotes, and some write the header's whole value. The
// service tells of the key alone, which would be in the log.
func TestAKeyInQuotesOrBehindItsSchemeIsToldByItsVariable(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer s.Close()
	for _, c := range []struct{ variable, flag, value, held string }{
		{"OPENAI_API_KEY", "--api-key-env", "OPENAI_API_KEY", `"hunter2hunter2"`},
		{"MY_KEY", "--api-key-env", "MY_KEY", `'hunter2hunter2'`},
		{"OPENAI_API_KEY", "--retries", "0", "Bearer hunter2hunter2"},
		{"OPENAI_API_KEY", "--retries", "0", `"Bearer hunter2hunter2"`},
		{"SECOND", "--header", "X-Api-Key: $SECOND", `"hunter2hunter2"`},
		{"SECOND", "--header", "Authorization: $SECOND", `'Bearer hunter2hunter2'`},
	} {
		cmd, out := kagentIn(t, t.TempDir(), "run", "-m", "openai/x", "--base-url", s.URL, "--retries", "0", "--stdin", "none", c.flag, c.value, "go")
		cmd.Env = append(cmd.Env, "OPENAI_API_KEY=x", c.variable+"="+c.held)
		cmd.Run()
		said := out.String()
		if cmd.ProcessState.ExitCode() != 2 || strings.Contains(said, "hunter2") || !strings.Contains(said, "the value of "+c.variable+" has ") || asked > 0 {
			t.Errorf("%s=%q: exit %d, %d requests: %s", c.variable, c.held, cmd.ProcessState.ExitCode(), asked, said)
		}
	}
	for _, line := range []string{"Authorization: $BOTH", "If-Match: $TAG"} {
		t.Setenv("BOTH", "Bearer hunter2hunter2")
		t.Setenv("TAG", `"x"`)
		if _, err := headers([]string{line}, true); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// An address out of the environment may hold a password: it is used and not told.
func TestAPasswordInAServicesVariableIsNotTold(t *testing.T) {
	for _, host := range []string{"http://u:hunter2hunter2@127.0.0.1:1", "u:hunter2hunter2@127.0.0.1:1", "http://hunter2hunter2@127.0.0.1:1/?key=hunter2hunter2", "http://u:hunter2hunter2@127.0.0.1:x"} {
		dir := t.TempDir()
		for _, args := range [][]string{
			{"run", "-s", "s", "-m", "ollama/x", "--retries", "0", "--stdin", "none", "-v", "--log-file", "log", "go"},
			{"models", "--services"},
			{"doctor", "--model", "ollama/x"},
			{"show", "s", "--events"},
		} {
			c, out := kagentIn(t, dir, args...)
			c.Env = append(c.Env, "OLLAMA_HOST="+host)
			c.Run()
			if said := out.String(); strings.Contains(said, "hunter2") {
				t.Errorf("%s: %q: %s", host, args, said)
			}
		}
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if b, _ := os.ReadFile(path); strings.Contains(string(b), "hunter2") {
				t.Errorf("%s: %s holds the password", host, path)
			}
			return err
		})
	}
}

// A proxy on the way to a plain address is told the password with each request,
// and may say it: also one that is a word.
func TestAProxysPasswordIsNotTold(t *testing.T) {
	for _, password := range []string{"correcthorse", "open", "s%C3%A9same%2B1"} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, plain, _ := parseBasic(r.Header.Get("Proxy-Authorization"))
			w.WriteHeader(http.StatusProxyAuthRequired)
			fmt.Fprintf(w, `{"error":{"message":"no entry with %s or (%s), %s"}}`, r.Header.Get("Proxy-Authorization"), plain, password)
		}))
		dir := t.TempDir()
		for _, variable := range []string{"HTTP_PROXY=http://", "http_proxy=", "HTTP_PROXY="} {
			for _, args := range [][]string{
				{"run", "-s", "s", "--if-exists", "resume", "-m", "openai/x", "--base-url", "http://service.invalid/v1", "--retries", "0", "--stdin", "none", "-v", "--log-file", "log", "go"},
				{"show", "s", "--events"},
			} {
				c, out := kagentIn(t, dir, args...)
				c.Env = append(c.Env, "OPENAI_API_KEY=x", variable+"user:"+password+"@"+proxy.Listener.Addr().String())
				c.Run()
				said := out.String()
				if !strings.Contains(said, "no entry with Basic ***") || strings.Contains(said, "dXNlc") || strings.Contains(said, "("+password) || strings.Contains(said, "same") || strings.Contains(said, password+`"`) {
					t.Errorf("%s: %q: %s", variable, args, said)
				}
			}
		}
		proxy.Close()
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if b, _ := os.ReadFile(path); strings.Contains(string(b), "correct") || strings.Contains(string(b), "same") || strings.Contains(string(b), "dXNlc") || strings.Contains(string(b), "(open") {
				t.Errorf("%s: %s holds the password", password, path)
			}
			return err
		})
	}
}

// parseBasic reads "Basic …" as net/http does of the other header.
func parseBasic(value string) (name, password string, ok bool) {
	r := http.Request{Header: http.Header{"Authorization": {value}}}
	return r.BasicAuth()
}

// A schema is stored and sent as a prompt is; it can't be masked without being another.
func TestAKeyInASchemaIsToldByItsPlace(t *testing.T) {
	const key = `hunter2+"odd"/key`
	quoted, _ := json.Marshal(key)
	for schema, place := range map[string]string{
		`{"type":"object","properties":{"k":{"type":"string","const":` + string(quoted) + `}}}`:    "at /properties/k/const:",
		`{"type":"object","properties":{"k":{"enum":["a","\u0068unter2+\"odd\"\/key!"]}}}`:         "at /properties/k/enum/1:",
		`{"type":"object","properties":{` + string(quoted) + `:{"type":"string"}}}`:                "at /properties/[masked MY_KEY]:",
		`{"type":"string","description":"postgres://app:s3cretPw99@db"}`:                           "at /description:",
		`{"type":"object","description":"Basic dTpodW50ZXIyKyJvZGQiL2tleQ==","required":["type"]}`: "at /description:",
	} {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "s.json"), []byte(schema), 0o600)
		c, out := kagentIn(t, dir, "run", "-m", "openai/x", "--api-key-env", "MY_KEY", "--base-url", "http://127.0.0.1:1", "--retries", "0", "--stdin", "none", "--output-schema", "s.json", "go")
		c.Env = append(c.Env, "MY_KEY="+key)
		c.Run()
		said := out.String()
		if c.ProcessState.ExitCode() != 2 || strings.Contains(said, "unter2") || strings.Contains(said, "s3cret") || !strings.Contains(said, "--output-schema s.json") || !strings.Contains(said, place) {
			t.Errorf("%s: exit %d: %s", schema, c.ProcessState.ExitCode(), said)
		}
	}
}

func TestAKeyInThePathOfAnAddressIsRefused(t *testing.T) {
	for _, base := range []string{"http://h/hunter2hunter2/v1", "http://h/v1/%68unter2hunter2", "http://h/sk-ant-" + "api03-Ab12cD34eF56gH78iJ90/v1"} {
		dir := t.TempDir()
		c, out := kagentIn(t, dir, "run", "-m", "openai/x", "--api-key-env", "GATEWAY", "--base-url", base, "--retries", "0", "--stdin", "none", "go")
		c.Env = append(c.Env, "GATEWAY=hunter2hunter2")
		c.Run()
		if said := out.String(); c.ProcessState.ExitCode() != 2 || strings.Contains(said, "unter2") || strings.Contains(said, "Ab12") || !strings.Contains(said, "--base-url must not hold a key") {
			t.Errorf("%s: exit %d: %s", base, c.ProcessState.ExitCode(), said)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v is left", base, left)
		}
	}
	if err := checkKeyInAddress(session.Settings{BaseURL: "http://127.0.0.1:1/anything/v1", Model: "openai/x"}); err != nil {
		t.Error(err)
	}
}
