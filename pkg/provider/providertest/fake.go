package providertest

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Fake builds and starts the strict fake server of the shared collection with
// a scenario. It returns its address and a function that says which strict
// rules were broken, "" for none.
func Fake(t *testing.T, scenario []byte) (address string, check func() string) {
	t.Helper()
	return startFake(t, buildFake(t), scenario)
}

// buildFake returns the path of the built program.
func buildFake(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "fakellm")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = Shared(t, "fakellm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("the fake server does not build: %v\n%s", err, out)
	}
	return bin
}

func startFake(t *testing.T, bin string, scenario []byte) (address string, check func() string) {
	t.Helper()
	address, _, check = startLogged(t, bin, scenario)
	return address, check
}

// FakeLogged is Fake with the file of its log: a JSON object for each request.
func FakeLogged(t *testing.T, scenario []byte) (address, log string, check func() string) {
	t.Helper()
	return startLogged(t, buildFake(t), scenario)
}

func startLogged(t *testing.T, bin string, scenario []byte) (address, log string, check func() string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "scenario.json")
	log = filepath.Join(dir, "log.jsonl")
	if err := os.WriteFile(file, scenario, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-scenario", file, "-log", log)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), log, func() string {
		out, err := exec.Command(bin, "check", "-log", log).CombinedOutput()
		if err != nil {
			return string(out)
		}
		return ""
	}
}

// scenario reads a built-in scenario and switches further rules on.
func scenario(t *testing.T, name string, rulesOn []string) (raw []byte, rules []map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(Shared(t, "fakellm/scenarios"), name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	if rulesOn != nil {
		s["rules_on"] = rulesOn
	}
	for _, r := range s["rules"].([]any) {
		rules = append(rules, r.(map[string]any))
	}
	raw, err = json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw, rules
}
