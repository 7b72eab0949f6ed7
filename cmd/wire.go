package cmd

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/provider"
	"kagent/pkg/provider/demo"
	"kagent/pkg/provider/openai"
	"kagent/pkg/provider/script"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// The composition root: here, and only here, parts meet.

func (a *app) store() *checkpoint.Store {
	o := checkpoint.Options{Owner: checkpoint.ThisProcess(version)}
	if a.format == "jsonl" {
		o.Report = func(e session.Event) { a.out.json(e) }
	}
	return checkpoint.NewStore(a.dir, o)
}

type toolClass struct {
	name  string
	class tool.Class
}

// toolClasses lists the built-in tools; toolSet makes them.
func toolClasses() []toolClass {
	return []toolClass{
		{"read_file", tool.Read},
		{"list_files", tool.Read},
		{"glob", tool.Read},
		{"grep", tool.Read},
		{"write_file", tool.Write},
		{"edit_file", tool.Write},
		{"shell", tool.Execute},
	}
}

func toolNames() []string {
	var names []string
	for _, t := range toolClasses() {
		names = append(names, t.name)
	}
	return names
}

func (a *app) toolSet(s session.Settings, mask *tool.Masker, lock *os.File, artifact tool.OpenArtifact) (*tool.Set, error) {
	hidden, err := filepath.Abs(a.dir)
	if err != nil {
		return nil, err
	}
	ws, err := tool.NewWorkspace(s.Workdir, hidden)
	if err != nil {
		return nil, usageErrorf("name an existing directory with --workdir", "work directory %s: %v", s.Workdir, cause(err))
	}
	return tool.NewSet(
		tool.ReadFile(ws, artifact), tool.ListFiles(ws), tool.Glob(ws), tool.Grep(ws),
		tool.WriteFile(ws), tool.EditFile(ws),
		tool.Shell(ws, tool.ShellOptions{
			Env: s.Env, Inherit: []*os.File{lock}, Mask: mask, Kill: a.signals.kill, Orphans: a.orphans(),
		}),
	)
}

// newProvider makes the way to the session's model. Keys come from the
// environment at each start and are kept nowhere else.
func newProvider(s session.Settings) (provider.Provider, error) {
	p, err := bareProvider(s)
	if err != nil {
		return nil, err
	}
	p = provider.StepTimeout(p, time.Duration(s.StepTimeout))
	return provider.Retry(p, provider.RetryOptions{Retries: s.Retries, MaxWait: time.Duration(s.RetryMaxWait)}), nil
}

func bareProvider(s session.Settings) (provider.Provider, error) {
	switch s.Model {
	case "":
		return nil, usageErrorf("set one with --model, KAGENT_MODEL or `model:` in the configuration file; `--model demo` works offline", "no model configured")
	case "demo":
		return demo.New(), nil
	}
	if file, ok := strings.CutPrefix(s.Model, "script:"); ok {
		p, err := script.Load(file)
		if err != nil {
			return nil, usageErrorf("see `kagent help script`", "%v", err)
		}
		return p, nil
	}
	name, model, _ := strings.Cut(s.Model, "/")
	keyEnv := s.APIKeyEnv
	if keyEnv == "" {
		keyEnv = "OPENAI_API_KEY"
	}
	key := os.Getenv(keyEnv)
	base := s.BaseURL
	if name == "openai" && base == "" {
		base = os.Getenv("OPENAI_BASE_URL")
	}
	switch {
	case name != "openai" && name != "openai-compatible" || model == "":
		return nil, usageErrorf("known are "+modelForms, "model %q is not known", s.Model)
	case name == "openai-compatible" && base == "":
		return nil, usageErrorf("add for example --base-url http://localhost:8080/v1", "%s needs --base-url", s.Model)
	case key == "" && (base == "" || s.APIKeyEnv != ""):
		return nil, usageErrorf("set it, or name another variable with --api-key-env", "%s needs a key, and %s is not set", s.Model, keyEnv)
	}
	p, err := openai.New(openai.Options{
		Name: name, Model: model, BaseURL: base, APIKey: key, IdleTimeout: time.Duration(s.IdleTimeout),
	})
	if err != nil {
		return nil, usageErrorf("see `kagent run --help`", "%v", err)
	}
	return p, nil
}

const modelForms = "openai/NAME, openai-compatible/NAME with --base-url, script:FILE, demo"

// absoluteModel makes a script's path independent of where a resume is started.
func absoluteModel(model string) (string, error) {
	file, ok := strings.CutPrefix(model, "script:")
	if !ok {
		return model, nil
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return "script:" + abs, nil
}

func checkBaseURL(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return usageErrorf("want for example http://localhost:8080/v1", "--base-url is no http address")
	case u.Port() != "" && !validPort(u.Port()):
		return usageErrorf("want 1 to 65535", "--base-url: port %s does not exist", u.Port())
	case secretQuery(u.Query()):
		return usageErrorf("put the secret into a variable and name it with --api-key-env", "--base-url must not hold a key: it is stored with the session")
	case u.User != nil:
		return usageErrorf("put the secret into a variable and name it with --api-key-env", "--base-url must not hold a user or password: it is stored with the session")
	}
	return nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

func secretQuery(q url.Values) bool {
	for name := range q {
		name = strings.ToLower(name)
		for _, word := range []string{"key", "token", "secret", "password", "sig"} {
			if strings.Contains(name, word) {
				return true
			}
		}
	}
	return false
}

// keyVariables are the variables that may hold a provider's key.
func keyVariables(named string) []string {
	names := []string{"OPENAI_API_KEY"}
	if named != "" {
		names = append(names, named)
	}
	return names
}

// masker knows the secrets of the environment: the provider's key, and what
// looks like one.
func masker(s session.Settings) *tool.Masker {
	return tool.NewMasker(os.Environ(), keyVariables(s.APIKeyEnv)...)
}

// mask hides the secrets of a text that the user says, and says so.
func mask(s session.Settings, what, text string, warnings []string) (string, []string) {
	masked := masker(s).Mask(text)
	if masked != text {
		warnings = append(warnings, "secrets in "+what+" were masked: a session is stored and sent")
	}
	return masked, warnings
}

// runner wires an open session to its model and tools.
func (a *app) runner(j *checkpoint.Journal, p provider.Provider) (*agent.Runner, error) {
	s := j.State().Settings
	secrets := masker(s)
	tools, err := a.toolSet(s, secrets, j.ToolsLock(), j.Artifacts().Open)
	if err != nil {
		return nil, err
	}
	strategy := agent.ByName(s.Agent)
	if strategy == nil {
		return nil, usageErrorf("known are "+strings.Join(agent.Names(), ", "), "agent %q is not known", s.Agent)
	}
	return &agent.Runner{
		Journal: j, Provider: p, Tools: tools, Strategy: strategy, NewKey: uuid.NewString,
		Mask: secrets, Artifacts: artifacts{j.Artifacts()}, Inbox: inbox{j.Inbox()},
		Models: func(model string) (provider.Provider, error) {
			s := s
			s.Model = model
			return newProvider(s)
		},
	}, nil
}

// inbox shows a session's inbox as the runner wants it.
type inbox struct{ *checkpoint.Inbox }

func (b inbox) Take() ([]agent.Letter, error) {
	letters, err := b.Inbox.Take()
	var out []agent.Letter
	for _, l := range letters {
		out = append(out, agent.Letter{ID: l.ID, Text: l.Text})
	}
	return out, err
}

// artifacts shows a session's artifacts as tools want them.
type artifacts struct{ store *checkpoint.Artifacts }

func (a artifacts) Create() (tool.Artifact, error) {
	f, err := a.store.Create()
	if err != nil {
		return nil, err
	}
	return f, nil
}
