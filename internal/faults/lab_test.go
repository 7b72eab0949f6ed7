//go:build faults

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain lets the lab start this program as its check.
func TestMain(m *testing.M) {
	if os.Getenv("FAULTS_CHECK") != "" {
		os.Exit(check())
	}
	os.Exit(m.Run())
}

// lab is where the tools are, and what they are given.
type lab struct {
	root  string // of this repository
	tools string
	data  string // testdata/faults
	exe   string // this program
	short bool
	long  bool
}

func newLab(t *testing.T) *lab {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tools := os.Getenv("KAGENT_FAULTLAB")
	if tools == "" {
		tools = filepath.Join(root, "..", "shared", "faultlab")
	}
	if _, err := os.Stat(filepath.Join(tools, "killpoints.py")); err != nil {
		t.Fatalf("no fault lab at %s: name its directory with KAGENT_FAULTLAB (it holds killpoints.py, powerloss.py, race.py)", tools)
	}
	for _, program := range []string{"python3", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the fault lab needs %s", program)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	profile := os.Getenv("FAULTS_PROFILE")
	if profile != "" && profile != "full" && profile != "short" && profile != "long" {
		t.Fatalf("FAULTS_PROFILE is %q, want short, full or long", profile)
	}
	return &lab{root: root, tools: tools, data: filepath.Join(root, "testdata", "faults"), exe: exe, short: profile == "short", long: profile == "long"}
}

// build makes the program, with the files that overlay names replaced.
func (l *lab) build(t *testing.T, overlay string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kagent")
	args := []string{"build", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = l.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// sweep is one run of one tool. The commands are files of testdata/faults.
type sweep struct {
	name, tool          string
	setup, run, recover string
	args                []string
	short               []string // more arguments in the short profile
	long                []string // more arguments in the long profile
	slow                bool     // not in the short profile
}

// report is what a tool says of a sweep.
type report struct {
	Tried    int
	Failures []struct{ Fault, Reason string }
	Complete bool
	Seconds  float64
	Notes    []string

	output string
	err    error
}

func (l *lab) command(file string) string {
	if file == "" {
		return ""
	}
	return `exec sh "$FAULTS_DATA/` + file + `"`
}

// sweep runs a tool on a binary. Exit codes of the lab: 0 good, 1 failures,
// 2 nothing could be tested, 3 the time was over first.
func (l *lab) sweep(t *testing.T, binary string, s sweep, more ...string) report {
	t.Helper()
	home := t.TempDir()
	name := filepath.Join(home, "report.json")
	args := []string{
		filepath.Join(l.tools, s.tool+".py"),
		"--run", l.command(s.run), "--check", `FAULTS_CHECK=1 exec "$FAULTS_EXE"`,
		"--jobs", strconv.Itoa(runtime.NumCPU()), "--budget", "3000", "--require-complete", "--json", name,
	}
	setup := "printf 'the notes\\n' >notes.txt"
	if s.setup != "" {
		setup += " && " + l.command(s.setup)
	}
	args = append(args, "--setup", setup)
	if s.recover != "" {
		args = append(args, "--recover", l.command(s.recover))
	}
	if keep := os.Getenv("FAULTS_KEEP"); keep != "" {
		args = append(args, "--keep", filepath.Join(keep, strings.ReplaceAll(t.Name(), "/", "_")))
	}
	args = append(args, s.args...)
	if l.short {
		args = append(args, s.short...)
	}
	if l.long {
		args = append(args, s.long...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", append(args, more...)...)
	cmd.Env = l.environ(home, binary)
	out, err := cmd.CombinedOutput()
	r := report{output: string(out), err: err}
	if b, rerr := os.ReadFile(name); rerr == nil {
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%s: its report: %v", s.tool, err)
		}
	}
	return r
}

// environ keeps the settings of whoever runs the tests away from kagent.
func (l *lab) environ(home, binary string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KAGENT_") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "FL_") {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+home, "FAULTS_KAGENT="+binary, "FAULTS_DATA="+l.data, "FAULTS_EXE="+l.exe)
}

// figures is the line that the tests print for a sweep.
func (r report) figures() string {
	return fmt.Sprintf("%d states tried, %d failures, %.0f s", r.Tried, len(r.Failures), r.Seconds)
}
