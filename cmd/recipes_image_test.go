package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// inImage has a shell make of the directory root what the image is, and start
// kagent as a container does: process 1, another root, a user without rights,
// nothing but the program.
const inImage = `set -e
mkdir -p "$ROOT/dev" "$ROOT/proc" "$ROOT/usr/local/bin" "$ROOT/work" "$ROOT/sessions" "$ROOT/tmp"
chown 65532:65532 "$ROOT/work" "$ROOT/sessions" "$ROOT/tmp"
mount --bind /dev "$ROOT/dev" && mount -t proc proc "$ROOT/proc"
exec env -i PATH=/usr/local/bin KAGENT_DIR=/sessions KAGENT_MODEL="$MODEL" "$(command -v chroot)" --userspec=65532:65532 "$ROOT" /usr/local/bin/kagent "$@"`

// image is a root directory with the program in it.
func image(t *testing.T) (root string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the program")
	}
	need(t, "unshare", "chroot", "go")
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %s", out)
	}
	root, err := os.MkdirTemp("", "image") // t.TempDir's parent is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(root, "usr/local/bin/kagent"), "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return root
}

func contained(root, model string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	c := exec.Command("unshare", append([]string{"--mount", "--pid", "--fork", "sh", "-c", inImage, "sh"}, args...)...)
	c.Env = append(os.Environ(), "ROOT="+root, "MODEL="+model)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	return c, &out
}

func TestTheImageRunsAsProcessOneAndHearsItsEnd(t *testing.T) {
	root := image(t)
	write(t, filepath.Join(root, "tea.txt"), "茶\n", 0o644)
	c, out := contained(root, "demo", "run", "-C", "/", "-s", "a", "--stdin", "none", "tea.txt?")
	if err := c.Run(); err != nil || !strings.Contains(out.String(), "offline demo") {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, filepath.Join(root, "slow.yaml"), "replies: [{when: {attempt: 1}, text: never, delay: 1000s}, {text: gone on with}]\n", 0o644)
	c, _ = contained(root, "script:/slow.yaml", "run", "-C", "/tmp", "-s", "b", "--stdin", "none", "x")
	c.Stderr = nil
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && lines.Text() != "step 1" {
	}
	stopContainer(t, c.Process.Pid)
	for lines.Scan() { // until it has ended
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 128+15 {
		t.Errorf("exit %d, want that of a signal", code)
	}
	c, out = contained(root, "", "resume", "b")
	if err := c.Run(); err != nil || !strings.HasSuffix(out.String(), "gone on with\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// stopContainer does what stopping a container does to its process 1, the child of pid.
func stopContainer(t *testing.T, pid int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	child, err2 := strconv.Atoi(strings.TrimSpace(string(b)))
	if err = errors.Join(err, err2); err == nil {
		err = syscall.Kill(child, syscall.SIGTERM)
	}
	if err != nil {
		t.Fatal(err)
	}
}
