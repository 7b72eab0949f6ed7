//go:build faults

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the lab start this program as its check.
func TestMain(m *testing.M) {
	switch os.Getenv("FAULTS_CHECK") {
	case "":
	case "loaded", "resumed":
		os.Exit(checkDamage())
	case "forked":
		os.Exit(checkFork())
	case "imported", "adopted":
		os.Exit(checkImport(os.Getenv("FAULTS_CHECK")))
	case "compacted":
		os.Exit(checkCompact())
	case "read":
		os.Exit(checkRead())
	case "listed", "verified", "removed", "repaired":
		os.Exit(checkHouse(os.Getenv("FAULTS_CHECK")))
	default:
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
	tmp   string // where the trials are, "" for the system's default
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
	return &lab{
		root: root, tools: tools, data: filepath.Join(root, "testdata", "faults"), exe: exe,
		short: profile == "short", long: profile == "long", tmp: memory(),
	}
}

// memory is a file system without a disk: the trials sync often, and what the
// tools prove does not hang on where they are. "" where there is none of a size.
func memory() string {
	const dir = "/dev/shm"
	var st syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(dir, &st) != nil || int64(st.Bavail)*st.Bsize < 2<<30 || syscall.Access(dir, 2) != nil {
		return ""
	}
	return dir
}

// mayMount reports whether this process may mount a loop device.
func mayMount(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	image, point := filepath.Join(dir, "image"), filepath.Join(dir, "point")
	err := errors.Join(os.Mkdir(point, 0o700), os.WriteFile(image, make([]byte, 1<<20), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command("mkfs.ext4", "-q", image).Run() != nil || exec.Command("mount", "-o", "loop", image, point).Run() != nil {
		return false
	}
	return exec.Command("umount", point).Run() == nil
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
	check               string   // what FAULTS_CHECK says, default 1
	first               string   // what finished.sh begins with
	agent               string   // of the session, default react
	args                []string // {kagent} is the program
	short               []string // more arguments in the short profile
	long                []string // more arguments in the long profile
	brief               bool     // a session of one step in the short profile
	slow                bool     // not in the short profile
	mounts              bool     // needs the right to mount
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
	if s.check == "" {
		s.check = "1"
	}
	if s.brief && l.short {
		s.agent = "brief"
	}
	args := []string{
		filepath.Join(l.tools, s.tool+".py"),
		"--run", l.command(s.run), "--check", "FAULTS_CHECK=" + s.check + ` exec "$FAULTS_EXE"`,
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
	if l.tmp != "" {
		args = append(args, "--tmp", l.tmp)
	}
	for _, arg := range s.args {
		args = append(args, strings.ReplaceAll(arg, "{kagent}", binary))
	}
	if l.short {
		args = append(args, s.short...)
	}
	if l.long {
		args = append(args, s.long...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", append(args, more...)...)
	cmd.Env = append(l.environ(home, binary), "FAULTS_FIRST="+s.first, "FAULTS_AGENT="+s.agent)
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
