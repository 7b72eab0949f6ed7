package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A run that is killed anywhere, again and again, and gone on with each time
// ends with the answer of one that was not, and the strict server never finds a
// history that it would refuse. Each call's effect is there.
func TestKilledAnywhereTheAnswerIsTheSame(t *testing.T) {
	runs := 2
	if full() {
		runs = 25
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		name     string
		scenario map[string]any
		flags    []string
		answer   string
	}{
		{"react", looping(), nil, "Finished after 5 results; the last one was: step 4\n"},
		{"fusion", slowly(deciding()), []string{"-a", "fusion"}, "All is done.\n"},
		{"orchestrator", slowly(deciding()), []string{"-a", "orchestrator"}, "All is done.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, c.scenario, func(t *testing.T, s *server, p protocol) {
				random := rand.New(rand.NewPCG(seed, uint64(len(p.name))))
				kills := 0
				for range runs {
					kills += killed(t, s, p, random, c.flags, c.answer)
				}
				t.Logf("%d kills", kills)
			})
		})
	}
}

// looping thinks aloud, takes its time and has a tool write a line, five times.
func looping() map[string]any {
	return slowly(rules(map[string]any{
		"tool_loop": map[string]any{
			"n": 5, "name": "shell", "args": map[string]any{"command": "echo step {{n_tool_results}} | tee -a ran"},
			"text": "I will look.", "reasoning": "one after the other",
		},
		"reply": map[string]any{"text": "Finished after {{n_tool_results}} results; the last one was: {{tool_result}}", "reasoning": "done"},
	}))
}

// slowly has each reply take some time, so that a kill finds it at work.
func slowly(scenario map[string]any) map[string]any {
	scenario["wire"] = map[string]any{"delay_ms": 3, "piece_runes": 5, "first_byte_delay_ms": 20}
	return scenario
}

// killed starts the same line until it has not been killed, and returns how
// often it was.
func killed(t *testing.T, s *server, p protocol, random *rand.Rand, flags []string, answer string) (kills int) {
	t.Helper()
	dir := t.TempDir()
	args := slices.Concat([]string{
		"run", "-q", "-s", "s", "--if-exists", "resume", "--if-locked", "wait=1m", "--on-unknown", "rerun",
		"--allow", "execute", "--tools", "shell", "--retry-max-wait", "20ms", "do it",
	}, p.model(s, "m"), flags)
	for {
		c := command(t, dir, args...)
		var out, stderr bytes.Buffer
		c.Stdout, c.Stderr = &out, &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wait := time.Duration(random.IntN(250)) * time.Millisecond
		if kills > 30 { // enough
			wait = time.Minute
		}
		death := time.AfterFunc(wait, func() { c.Process.Kill() })
		c.Wait()
		death.Stop()
		code := c.ProcessState.ExitCode()
		if code < 0 {
			kills++
			continue
		}
		if code != 0 || out.String() != answer {
			t.Errorf("after %d kills: exit %d, answer %q, want %q: %s", kills, code, out.String(), answer, stderr.String())
		}
		break
	}
	if ran, err := os.ReadFile(filepath.Join(dir, "ran")); err == nil {
		for n := range 5 {
			if !strings.Contains(string(ran), fmt.Sprintf("step %d\n", n)) {
				t.Errorf("after %d kills step %d has not run: %q", kills, n, ran)
			}
		}
	}
	return kills
}
