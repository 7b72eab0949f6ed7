package cmd

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// yamlOf reads a block of YAML into v.
func yamlOf(t *testing.T, text string, v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
}

// workflow is as much of a GitHub workflow as we use.
type workflow struct {
	On   map[string]any
	Jobs map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Env    map[string]string
		Steps  []struct {
			Uses, Run, If string
			With          map[string]string
		}
	}
}

func TestTheWorkflowGoesOnWhereItWas(t *testing.T) {
	var w workflow
	yamlOf(t, readPage(t, recipesPage).under(t, "GitHub Actions", "yaml"), &w)
	job := w.Jobs["review"]
	if w.On == nil || job.RunsOn == "" || job.Env["KAGENT_MODEL"] == "" {
		t.Fatalf("%+v", w)
	}
	d := newDesk(t)
	d.commits()
	d.set("GITHUB_SHA", strings.Repeat("0a", 20))
	d.set("GITHUB_STEP_SUMMARY", filepath.Join(d.dir, "summary.md"))
	d.set("GITHUB_ACTIONS", "true")
	d.set("KAGENT_RETRIES", "0")
	d.script(downOnce)
	restored, saved := -1, -1
	var runs []string
	for i, s := range job.Steps {
		switch {
		case strings.HasPrefix(s.Uses, "actions/cache/restore@") && s.With["path"] == ".kagent-sessions" && s.With["restore-keys"] != "":
			restored = i
		case strings.HasPrefix(s.Uses, "actions/cache/save@") && s.With["path"] == ".kagent-sessions" && s.If == "always()":
			saved = i
		case s.Run != "":
			runs = append(runs, s.Run)
		}
	}
	asked := slices.IndexFunc(runs, func(s string) bool { return strings.Contains(s, "kagent run") })
	if restored < 0 || saved < restored || asked != 1 {
		t.Fatalf("restored by step %d, saved by %d, of %d", restored, saved, len(job.Steps))
	}
	d.must("set -e\n" + runs[0])
	if _, said, code := d.sh("set -e\n" + runs[asked]); code != 75 || !strings.Contains(said, "::group::step 1") {
		t.Errorf("exit %d\n%s", code, said)
	}
	for _, run := range runs { // the job again, with the sessions of the cache
		d.must("set -e\n" + run)
	}
	if d.read("summary.md") != "here it is\n" {
		t.Errorf("the summary is %q", d.read("summary.md"))
	}
}

func TestTheGitLabJobGoesOnWhereItWas(t *testing.T) {
	var jobs map[string]struct {
		Script []string
		Retry  struct {
			Max   int
			Codes []int `yaml:"exit_codes"`
		}
		Cache struct {
			Key, When string
			Paths     []string
		}
		Artifacts struct{ Paths []string }
	}
	yamlOf(t, readPage(t, recipesPage).under(t, "GitLab CI", "yaml"), &jobs)
	job := jobs["review"]
	if !slices.Equal(job.Retry.Codes, []int{exitInterrupted}) || job.Cache.When != "always" || !slices.Equal(job.Cache.Paths, []string{".kagent-sessions"}) {
		t.Fatalf("%+v", job)
	}
	d := newDesk(t)
	d.commits()
	d.set("CI_COMMIT_SHA", strings.Repeat("0b", 20))
	d.set("GITLAB_CI", "true")
	d.set("KAGENT_RETRIES", "0")
	d.script(downOnce)
	script := "set -e\n" + strings.Join(job.Script, "\n")
	if _, said, code := d.sh(script); code != 75 || !strings.Contains(said, "section_start:") {
		t.Errorf("exit %d\n%s", code, said)
	}
	d.must(script)
	if d.read(job.Artifacts.Paths[0]) != "here it is\n" {
		t.Errorf("%s is %q", job.Artifacts.Paths[0], d.read(job.Artifacts.Paths[0]))
	}
	if out, _ := d.must("kagent show --last -o json"); !strings.Contains(out, "// changed") {
		t.Errorf("the change was not attached: %s", out)
	}
}

// cronJob is as much of one as we use.
type cronJob struct {
	APIVersion, Kind string
	Spec             struct {
		Schedule, ConcurrencyPolicy string
		JobTemplate                 struct {
			Spec struct {
				BackoffLimit     int
				PodFailurePolicy struct {
					Rules []struct {
						Action      string
						OnExitCodes struct {
							Operator string
							Values   []int
						}
					}
				}
				Template struct{ Spec podSpec }
			}
		}
	}
}

type podSpec struct {
	RestartPolicy   string
	SecurityContext struct {
		RunAsNonRoot bool
		RunAsUser    int
	}
	Containers []struct {
		Image string
		Args  []string
		Env   []struct {
			Name, Value string
			ValueFrom   any
		}
		SecurityContext struct{ ReadOnlyRootFilesystem bool }
		VolumeMounts    []struct{ Name, MountPath string }
	}
	Volumes []struct{ Name string }
}

// asJSON lets YAML fill fields by the names of JSON, as Kubernetes does.
func asJSON(t *testing.T, text string, v any) {
	t.Helper()
	var parsed any
	yamlOf(t, text, &parsed)
	b, err := json.Marshal(parsed)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheCronJobGoesOnInItsNextPod(t *testing.T) {
	var c cronJob
	asJSON(t, readPage(t, recipesPage).under(t, "Kubernetes", "yaml"), &c)
	job, pod := c.Spec.JobTemplate.Spec, c.Spec.JobTemplate.Spec.Template.Spec
	codes := job.PodFailurePolicy.Rules[1].OnExitCodes
	switch {
	case c.APIVersion != "batch/v1" || c.Kind != "CronJob" || c.Spec.Schedule == "" || c.Spec.ConcurrencyPolicy != "Forbid":
		t.Errorf("%+v", c)
	case pod.RestartPolicy != "Never" || job.BackoffLimit == 0: // a failure policy takes no other
		t.Errorf("%+v", job)
	case codes.Operator != "NotIn" || !slices.Contains(codes.Values, exitInterrupted) || !slices.Contains(codes.Values, 143):
		t.Errorf("%+v", codes)
	case !pod.SecurityContext.RunAsNonRoot || !pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem || len(pod.Volumes) != 1:
		t.Errorf("%+v", pod)
	case pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name:
		t.Errorf("%+v", pod.Volumes)
	}
	d, line := newDesk(t), "kagent"
	for _, e := range pod.Containers[0].Env {
		if e.Name == "KAGENT_DIR" && e.Value != pod.Containers[0].VolumeMounts[0].MountPath {
			t.Errorf("sessions lie in %s, which is no volume", e.Value)
		}
	}
	for _, arg := range pod.Containers[0].Args {
		line += " " + quote(strings.ReplaceAll(arg, "$(JOB)", "kagent-report-29410920"))
	}
	d.set("KAGENT_RETRIES", "0")
	d.script(downOnce)
	if _, _, code := d.sh(line); code != 75 {
		t.Errorf("exit %d, want what brings another pod", code)
	}
	if out, _ := d.must(line); out != "here it is\n" {
		t.Errorf("%q", out)
	}
}

// instructions of a Dockerfile, by stage.
func instructions(text string) (stages [][][2]string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if name == "FROM" {
			stages = append(stages, nil)
		}
		if ok {
			last := len(stages) - 1
			stages[last] = append(stages[last], [2]string{name, rest})
		}
	}
	return stages
}

func TestTheImageHoldsTheProgramAndNoRights(t *testing.T) {
	stages := instructions(readPage(t, recipesPage).under(t, "A container", "dockerfile"))
	last := stages[len(stages)-1]
	has := func(name, pattern string) {
		t.Helper()
		if !slices.ContainsFunc(last, func(i [2]string) bool { return i[0] == name && regexp.MustCompile(pattern).MatchString(i[1]) }) {
			t.Errorf("no %s %s among %q", name, pattern, last)
		}
	}
	has("FROM", `^scratch$`)
	has("USER", `^[1-9]\d*:[1-9]\d*$`)
	has("ENTRYPOINT", `^\["/usr/local/bin/kagent"\]$`) // no shell: signals are heard by process 1
	has("COPY", `^--from=build /src/bin/kagent /usr/local/bin/kagent$`)
	has("COPY", `ca-certificates\.crt`)
	if !slices.Contains(stages[0], [2]string{"RUN", "make build"}) {
		t.Errorf("%q", stages[0])
	}
}
