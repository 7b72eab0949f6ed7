package cmd

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
	"kagent/pkg/secret"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// The composition root: here, and only here, parts meet.

func (a *app) store() *checkpoint.Store {
	o := checkpoint.Options{Owner: checkpoint.ThisProcess(version), Trusted: sudoer()}
	if a.format == "jsonl" {
		o.Report = func(e session.Event) { a.out.json(e) }
	}
	return checkpoint.NewStore(a.dir, o)
}

// sudoer is who became root by sudo: what belongs to them is theirs still.
func sudoer() []int {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	return []int{uid}
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
		{"apply_patch", tool.Write},
		{"shell", tool.Execute},
		{"web_fetch", tool.Network},
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
		tool.WriteFile(ws), tool.EditFile(ws), tool.ApplyPatch(ws),
		tool.Shell(ws, tool.ShellOptions{
			Env: s.Env, Inherit: []*os.File{lock}, Mask: mask, Kill: a.signals.kill, Grace: a.grace, Orphans: a.orphans(),
		}),
		tool.WebFetch(tool.WebFetchOptions{Mask: mask, Agent: "kagent/" + version, Proxy: sse.EnvironmentProxy}),
	)
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
	case secret.InAddress(u) != nil:
		return usageErrorf("put the secret into a variable and name it with --api-key-env", "--base-url must not hold a key, a user or a password: it is stored with the session")
	}
	return nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// mask hides the secrets of a text that the user says, and says so.
func mask(s session.Settings, what, text string, warnings []string) (string, []string) {
	masked := masker(s).MaskReply(text)
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
	if agent.ByName(s.Agent) == nil {
		return nil, usageErrorf("known are "+strings.Join(agent.Names(), ", "), "agent %q is not known", s.Agent)
	}
	known, err := loadCatalogue()
	if err != nil {
		return nil, err
	}
	return &agent.Runner{
		Journal: j, Provider: a.streams.pace(p), Tools: tools,
		Mask: secrets, Recorded: recordedResults(s), Artifacts: artifacts{j.Artifacts()}, Inbox: inbox{j.Inbox()}, Grace: a.grace,
		Models: func(model string) (provider.Provider, error) {
			p, err := providerOf(s, model)
			return a.streams.pace(p), err
		},
		Price:  func(model string, u message.Usage) *float64 { return cost(known, model, u) },
		Window: windows(known),
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
