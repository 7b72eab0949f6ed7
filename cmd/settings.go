package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kagent/pkg/agent"
	"kagent/pkg/session"
	"kagent/pkg/tool"
	"kagent/pkg/userfile"
)

// settingFlags are the flags that a session remembers. `run` takes their
// defaults; `resume` takes only those that are given.
type settingFlags struct {
	agent, model, baseURL, apiKeyEnv   string
	system, systemFile, workdir        string
	tools, allow, env, headers         []string
	maxSteps, retries, contextChars    int
	stepTimeout, idleTimeout, retryMax time.Duration
	onUnknown                          string
	agentsDir, outputSchema            string
	warnings                           []string // of apply
	confirmPlan                        bool
	demands                            demandFlags
	sampling                           samplingFlags
	limits                             limitFlags
}

func (s *settingFlags) addTo(f *pflag.FlagSet) {
	s.addWayTo(f)
	f.StringVar(&s.system, "system", "", "system prompt")
	f.StringVar(&s.systemFile, "system-file", "", "file that holds the system prompt")
	f.StringVarP(&s.workdir, "workdir", "C", ".", "directory that the tools work in")
	s.addToolsTo(f)
	f.StringSliceVar(&s.env, "env", nil, "names of environment variables to hand to tools")
	f.IntVar(&s.maxSteps, "max-steps", 20, "model calls per turn, 0 for no limit")
	f.IntVar(&s.contextChars, "context-chars", 0, "characters that a request may have; what is more is summarised or left out (default by the model's window)")
	s.limits.addTo(f)
	f.DurationVar(&s.stepTimeout, "step-timeout", 10*time.Minute, "longest time for one model call")
	f.DurationVar(&s.idleTimeout, "idle-timeout", 2*time.Minute, "longest silence in a model's stream")
	f.IntVar(&s.retries, "retries", 5, "how often a failed model call is tried again")
	f.DurationVar(&s.retryMax, "retry-max-wait", time.Minute, "longest wait before a retry; a server that asks for more ends the run as interrupted")
	f.StringVar(&s.agentsDir, "agents-dir", "", "directory of profiles for the orchestrator, relative to the work directory (default "+agentsDir+")")
	s.demands.addTo(f)
	s.sampling.addTo(f)
	f.BoolVar(&s.confirmPlan, "confirm-plan", false, "pause when the plan is made, until a person approves it (exit 7)")
	f.StringVar(&s.outputSchema, "output-schema", "", "file that holds a JSON Schema: the answer has to be JSON that fits it")
	f.StringVar(&s.onUnknown, "on-unknown", "tell", "calls whose outcome is unknown after a crash: tell the model, stop for a person, or rerun")
}

// addWayTo adds the flags that say which model is asked, and how.
func (s *settingFlags) addWayTo(f *pflag.FlagSet) {
	f.StringVarP(&s.model, "model", "m", "", "model: SERVICE/NAME, of those that kagent models --services lists, script:FILE, or demo\n(offline); several between commas: a fallback chain")
	f.StringVar(&s.baseURL, "base-url", "", "address of the provider, for example http://localhost:8080/v1")
	f.StringVar(&s.apiKeyEnv, "api-key-env", "", "environment variable that holds the provider's key (default the service's own)")
	f.StringArrayVar(&s.headers, "header", nil, "further header for the provider, as 'Name: value' or 'Name: $VARIABLE' (repeatable)")
}

// addToolsTo adds the flags that say which tools are offered.
func (s *settingFlags) addToolsTo(f *pflag.FlagSet) {
	f.StringSliceVar(&s.tools, "tools", nil, "names of the tools to offer, or none (default all that are allowed)")
	f.StringSliceVar(&s.allow, "allow", nil, "classes of tools to allow beside read: write, execute, network")
}

// apply overwrites the settings by the flags that use says count.
func (s *settingFlags) apply(out *session.Settings, use func(name string) bool) error {
	if use("system") && use("system-file") && s.system != "" && s.systemFile != "" {
		return usageErrorf("give one of them", "--system and --system-file exclude each other")
	}
	set := func(name string, do func() error) error {
		if !use(name) {
			return nil
		}
		return do()
	}
	for _, step := range []error{
		set("model", func() (err error) { out.Model, err = resolveModels(s.model); return err }),
		set("base-url", func() error { out.BaseURL = s.baseURL; return checkBaseURL(s.baseURL) }),
		set("api-key-env", func() error { out.APIKeyEnv = s.apiKeyEnv; return checkVariable(s.apiKeyEnv) }),
		set("system", func() error { out.System = systemPrompt(s.system); return nil }),
		set("system-file", func() error { return s.readSystem(out) }),
		set("workdir", func() error { return s.findWorkdir(out) }),
		set("env", func() error { out.Env = s.env; return nil }),
		set("header", func() error { out.Headers = s.headers; return checkHeaders(s.headers) }),
		set("base-url", func() error { return checkKeyInAddress(*out) }),
		checkEnvNames(s, out),
		set("max-steps", func() error { out.Limits.MaxSteps = s.maxSteps; return notNegative("max-steps", s.maxSteps) }),
		set("context-chars", func() error {
			out.ContextChars = s.contextChars
			return notNegative("context-chars", s.contextChars)
		}),
		s.limits.apply(&out.Limits, use),
		set("retries", func() error { out.Retries = s.retries; return notNegative("retries", s.retries) }),
		set("step-timeout", func() error { return positive("step-timeout", s.stepTimeout, &out.StepTimeout) }),
		set("idle-timeout", func() error { return positive("idle-timeout", s.idleTimeout, &out.IdleTimeout) }),
		set("retry-max-wait", func() error { return positive("retry-max-wait", s.retryMax, &out.RetryMaxWait) }),
		set("on-unknown", func() error {
			out.OnUnknown = s.onUnknown
			return oneOf("on-unknown", s.onUnknown, "tell", "stop", "rerun")
		}),
		set("confirm-plan", func() error { out.ConfirmPlan = s.confirmPlan; return nil }),
		s.applyTools(out, use),
		s.demands.apply(out, use),
		s.sampling.apply(out, use),
		s.applyProfiles(out, use),
		set("output-schema", func() error { return s.readSchema(out) }),
	} {
		if step != nil {
			return step
		}
	}
	return nil
}

// applyTools works out which tools are offered: those of the allowed classes,
// or the ones named.
func (s *settingFlags) applyTools(out *session.Settings, use func(string) bool) error {
	if !use("allow") && !use("tools") {
		return nil
	}
	if use("allow") {
		out.Allow = s.allow
	}
	for _, class := range out.Allow {
		if err := oneOf("allow", class, string(tool.Read), string(tool.Write), string(tool.Execute), string(tool.Network)); err != nil {
			return err
		}
	}
	wanted := s.tools
	if !use("tools") {
		wanted = nil
	}
	if len(wanted) == 1 && wanted[0] == "none" {
		out.Tools = []string{}
		return nil
	}
	out.Tools = []string{}
	for _, t := range toolClasses() {
		named := len(wanted) == 0 || slices.Contains(wanted, t.name)
		if named && (t.class == tool.Read || slices.Contains(out.Allow, string(t.class))) {
			out.Tools = append(out.Tools, t.name)
		}
	}
	for _, name := range wanted {
		i := slices.IndexFunc(toolClasses(), func(t toolClass) bool { return t.name == name })
		if i < 0 {
			return usageErrorf("known are "+strings.Join(toolNames(), ", "), "--tools: there is no tool %q", name)
		}
		if !slices.Contains(out.Tools, name) {
			return usageErrorf("add --allow "+string(toolClasses()[i].class), "--tools: %s is not allowed", name)
		}
	}
	return nil
}

// readSchema takes the schema of the answer in, in one line.
func (s *settingFlags) readSchema(out *session.Settings) error {
	if out.OutputSchema = nil; s.outputSchema == "" {
		return nil
	}
	b, err := readRegular(s.outputSchema, schemaLimit)
	if err != nil {
		return usageErrorf("name a file with a JSON Schema", "--output-schema %s: %v", s.outputSchema, cause(err))
	}
	var line bytes.Buffer
	if err := json.Unmarshal(b, new(json.RawMessage)); err != nil {
		return usageErrorf("name a file with a JSON Schema", "--output-schema %s: %v", s.outputSchema, userfile.JSON(b, err))
	}
	if err := json.Compact(&line, b); err != nil {
		return usageErrorf("name a file with a JSON Schema", "--output-schema %s: %v", s.outputSchema, err)
	}
	schema, err := tool.NewSchema(line.Bytes())
	if err != nil {
		return usageErrorf("see https://json-schema.org", "--output-schema %s: %s", s.outputSchema, oneLine(err.Error(), 300))
	}
	if at := schema.Unchecked; at != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("--output-schema %s: the model is told of %s, and nobody checks it: it is a pattern with look-around or back-references",
			s.outputSchema, oneLine(strings.Join(at, ", "), 300)))
	}
	out.OutputSchema = line.Bytes()
	if at, found := secretIn(masker(*out), line.Bytes()); found {
		return usageErrorf("take it out", "--output-schema %s holds what is a secret, or looks like one, at %s: it would be stored with the session and sent", s.outputSchema, at)
	}
	return nil
}

const schemaLimit = 256 << 10 // bytes

// applyProfiles takes the profiles in: a session keeps those that it began with.
func (s *settingFlags) applyProfiles(out *session.Settings, use func(string) bool) (err error) {
	if out.Agent == "orchestrator" && use("agents-dir") {
		var warnings []string
		out.Profiles, warnings, err = loadProfiles(out.Workdir, s.agentsDir)
		s.warnings = append(s.warnings, warnings...)
		secrets := masker(*out)
		for i, p := range out.Profiles {
			out.Profiles[i].System, out.Profiles[i].Description = secrets.Mask(p.System), secrets.Mask(p.Description)
		}
	}
	return err
}

func systemPrompt(text string) string {
	if strings.TrimSpace(text) == "" {
		return agent.DefaultSystem()
	}
	return text
}

func (s *settingFlags) readSystem(out *session.Settings) error {
	if s.systemFile == "" {
		return nil
	}
	b, err := readRegular(s.systemFile, inputLimit)
	if err != nil {
		return usageErrorf("name a text file", "--system-file %s: %v", s.systemFile, cause(err))
	}
	c := cleaner{}
	out.System = systemPrompt(c.clean(s.systemFile, string(b)))
	return nil
}

func (s *settingFlags) findWorkdir(out *session.Settings) error {
	abs, err := filepath.Abs(s.workdir)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(abs); err == nil && !info.IsDir() {
			return usageErrorf("name a directory", "--workdir %s is not a directory", s.workdir)
		}
	}
	if err != nil {
		return usageErrorf("name an existing directory", "--workdir %s: %v", s.workdir, cause(err))
	}
	out.Workdir = abs
	return nil
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usageErrorf("want "+strings.Join(allowed, ", "), "--%s %q is not known", flag, value)
}

func notNegative(flag string, n int) error {
	if n < 0 {
		return usageErrorf("want 0 or more", "--%s %d is negative", flag, n)
	}
	return nil
}

func positive(flag string, d time.Duration, out *session.Duration) error {
	if d <= 0 {
		return usageErrorf("want for example 90s", "--%s %s is not positive", flag, d)
	}
	*out = session.Duration(d)
	return nil
}
