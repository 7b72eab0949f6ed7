package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// driven is a way to drive the program into one end. Its session is s; what is
// prepared is done by lines of a shell first.
type driven struct {
	end     string // "status: reason", or what an error's reason is
	code    int
	prepare string
	args    []string // default: run the script
	script  string   // default: one reply
}

func failing(kind string) string { return "- error: {kind: " + kind + ", message: no}" }

const (
	oneReply   = "- text: done"
	askForLook = "- when: {tool_results: 0}\n  tool_calls: [{name: list_files, arguments: {path: .}}]\n- text: done"
	runScript  = "kagent run -q -s s --retries 0 -m script:s.yaml hi "
)

// ends drives the program into each row of the table of exit codes.
func ends() []driven {
	run := func(more ...string) []string { return append(strings.Fields(runScript)[1:], more...) }
	var all []driven
	for code, kinds := range map[int]string{
		1:  "failed: content_filter, invalid_request, not_found",
		6:  "paused: context_length",
		8:  "failed: auth, permission, quota",
		75: "interrupted: network, timeout, overloaded, rate_limit, server",
	} {
		status, reasons, _ := strings.Cut(kinds, ": ")
		for _, kind := range strings.Split(reasons, ", ") {
			all = append(all, driven{end: status + ": " + kind, code: code, script: failing(kind)})
		}
	}
	return append(all, []driven{
		{end: "completed", code: 0},
		{end: "failed: incomplete", code: 1, script: "- text: ''"},
		{end: "failed: schema", code: 1, prepare: `echo '{"type":"integer"}' > schema.json`, args: run("--output-schema", "schema.json")},
		{end: "failed: attempts", code: 1, script: failing("network"), prepare: runScript, args: []string{"resume", "-q", "--interrupted", "--max-attempts", "1"}},
		{end: "failed: tool", code: 1, args: run("--require-tool", "grep")},
		{end: "usage", code: 2, args: run("--nonsense")},
		{end: "usage", code: 2, prepare: runScript},
		{end: "no_session", code: 3, args: []string{"resume", "nosuch"}},
		{end: "damaged", code: 5, prepare: runScript + "; echo x > .kagent-sessions/s/events.jsonl", args: []string{"resume", "s"}},
		{end: "paused: max_steps", code: 6, script: askForLook, args: run("--max-steps", "1")},
		{end: "paused: max_steps", code: 6, script: askForLook, args: run("--max-total-steps", "1")},
		{end: "paused: max_tokens", code: 6, script: askForLook, args: run("--max-total-tokens", "1")},
		{end: "paused: deadline", code: 6, script: oneReply + "\n  delay: 1000s", args: run("--deadline", "1ms")},
		{end: "paused: max_output", code: 6, script: oneReply + "\n  stop: length"},
		{end: "paused: plan", code: 7, args: run("-a", "plan-solve", "--confirm-plan")},
		{end: "completed", code: 7, script: strings.Replace(askForLook, "list_files, arguments: {path: .}", "shell, arguments: {command: ls}", 1), args: run("--fail-on-denied")},
		{end: "interrupted: storage", code: 9, script: strings.Replace(askForLook, "text: done", "text: "+strings.Repeat("x", 1<<20), 1), args: append([]string{"sh", "-c", "ulimit -f 200; exec \"$@\"", "sh", "kagent"}, run()...)},
	}...)
}

func TestEveryRowOfTheExitTable(t *testing.T) {
	for _, d := range ends() {
		t.Run(strconv.Itoa(d.code)+" "+d.end, func(t *testing.T) {
			dir := t.TempDir()
			script := d.script
			if script == "" {
				script = oneReply
			}
			if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte("replies:\n"+script+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			prepare, _ := commandIn(t, dir, "sh", "-c", d.prepare)
			prepare.Run() // it may end as it likes
			args := d.args
			if args == nil {
				args = strings.Fields(runScript)[1:]
			}
			if args[0] != "sh" {
				args = append([]string{"kagent"}, args...)
			}
			c, _ := commandIn(t, dir, args[0], append(args[1:], "-o", "json")...)
			var out, said bytes.Buffer
			c.Stdout, c.Stderr = &out, &said
			c.Run()
			endedAs(t, c.ProcessState.ExitCode(), d, out.Bytes(), said.String())
		})
	}
}

// endedAs compares an exit code and a result with what is wanted.
func endedAs(t *testing.T, code int, want driven, out []byte, said string) {
	t.Helper()
	var res struct{ Status, Reason, Resume string }
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatalf("exit %d, no result: %q\n%s", code, out, said)
	}
	fits(t, "result", out)
	status, reason, named := strings.Cut(want.end, ": ")
	if !named && want.code != exitOK && want.code != exitPerson { // nothing was started
		status, reason = "failed", want.end
	}
	if code != want.code || res.Status != status || res.Reason != reason {
		t.Errorf("exit %d, %s: %s, want %d, %s: %s\n%s", code, res.Status, res.Reason, want.code, status, reason, said)
	}
	if unfinished := named && status != "completed"; unfinished != strings.HasPrefix(res.Resume, "kagent resume s") {
		t.Errorf("the line to resume with: %q", res.Resume)
	}
}

// The rows that need a process to be in the middle of something.
func TestRowsOfTheExitTableInTheMiddle(t *testing.T) {
	dir, c, _ := toolRun(t, `echo > begun; exec sleep 1000`)
	locked, _ := kagentIn(t, dir, "resume", "s", "-o", "json")
	locked.Stdout, locked.Stderr = nil, nil
	out, _ := locked.Output()
	endedAs(t, locked.ProcessState.ExitCode(), driven{end: "in_use", code: exitLocked}, out, "")
	c.Process.Kill()
	c.Wait()
	doubt, _ := kagentIn(t, dir, "resume", "s", "--on-unknown", "stop", "-o", "json")
	doubt.Stdout, doubt.Stderr = nil, nil
	out, _ = doubt.Output()
	endedAs(t, doubt.ProcessState.ExitCode(), driven{end: "paused: unknown_outcome", code: exitPerson}, out, "")

	for _, end := range []string{"interrupted: signal", "cancelled: "} {
		dir, c, out := toolRun(t, `echo > begun; exec sleep 1000`)
		if end == "cancelled: " {
			cancel, _ := kagentIn(t, dir, "cancel", "s")
			cancel.Run()
		} else {
			c.Process.Signal(syscall.SIGTERM)
		}
		c.Wait()
		ws := c.ProcessState.Sys().(syscall.WaitStatus)
		if ws.ExitStatus() <= signalBase && ws.Signal() != syscall.SIGTERM || !strings.Contains(out.String(), strings.TrimSuffix(end, ": ")) {
			t.Errorf("%s: %v\n%s", end, c.ProcessState, out)
		}
	}
}

// What the page's table says is what was driven into, and the other way round.
func TestTheExitTableIsThatOfTheContract(t *testing.T) {
	_, page, _ := strings.Cut(contract(t), "## Exit codes")
	page, _, _ = strings.Cut(page, "\n## ")
	var driven []string
	for _, d := range ends() {
		driven = append(driven, d.end)
	}
	driven = append(driven, "paused: unknown_outcome", "interrupted: signal", "cancelled")
	elsewhere := []string{"failed: internal", "paused: max_cost", "paused: approval"} // a fault of ours; a price; calls that wait come later
	row := regexp.MustCompile(`(?m)^\| (?:> )?(\d+) \|[^|]*\|([^|]*)\|`)
	rows := 0
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		rows++
		code, _ := strconv.Atoi(m[1])
		for _, ends := range strings.Split(m[2], ";") {
			ends, _, _ = strings.Cut(ends, "(")
			status, reasons, _ := strings.Cut(strings.TrimSpace(ends), ":")
			for _, reason := range strings.Split(reasons, ",") {
				reason = strings.TrimSpace(reason)
				end := strings.TrimSuffix(status+": "+reason, ": ")
				if end == "" {
					continue
				}
				if got := exitCode(status, reason); got != code && !(code == signalBase && got > code) {
					t.Errorf("%s exits %d, want %d", end, got, code)
				}
				if !slices.Contains(driven, end) && !slices.Contains(elsewhere, end) {
					t.Errorf("nothing is driven into %s", end)
				}
			}
		}
	}
	if rows < 12 {
		t.Errorf("only %d rows are understood", rows)
	}
}
