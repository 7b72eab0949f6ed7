package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The exit codes that scripts rely on. Ending by a signal is signalBase plus
// its number.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitLocked      = 4
	exitDamaged     = 5
	exitLimit       = 6
	exitPerson      = 7
	exitRefused     = 8
	exitStorage     = 9
	exitInterrupted = 75
	signalBase      = 128
	exitSigint      = signalBase + 2 // a signal whose number is not known to the caller
)

// An exitRow is one line of the contract. The status of a code that no run
// ends with is empty.
type exitRow struct {
	code    int
	meaning string
	script  string // what a script does about it
	status  string
	reasons []string // none: any
	others  bool     // the unknown reasons of the status belong here too
}

// exitTable is the only place where codes, statuses and reasons meet.
func exitTable() []exitRow {
	return []exitRow{
		{exitOK, "completed", "uses the answer", "completed", nil, false},
		{exitFailed, "could not do it, or only in part", "looks", "failed", []string{
			"incomplete", "schema", "attempts", "tool", "content_filter", "invalid_request", "not_found", "internal",
		}, true},
		{exitUsage, "usage or configuration error, nothing started (also: the session exists and --if-exists is fail; " +
			"a log of a newer version)", "fixes the call", "", nil, false},
		{exitNotFound, "no such session, or an ambiguous prefix", "fixes the id", "", nil, false},
		{exitLocked, "session in use by another process", "tries later", "", nil, false},
		{exitDamaged, "session damaged; nothing was changed", "runs kagent repair", "", nil, false},
		{exitLimit, "paused by a limit, resumable with a higher one", "raises it", "paused", []string{
			"max_steps", "max_tokens", "max_cost", "deadline", "context_length", "max_output",
		}, true},
		{exitPerson, "paused for a person; or a tool was denied and --fail-on-denied", "decides", "paused", []string{
			"approval", "plan", "prompt", "unknown_outcome",
		}, false},
		{exitRefused, "the provider refuses", "fixes the account, resumes", "failed", []string{
			"auth", "permission", "quota",
		}, false},
		{exitStorage, "storage: cannot write durably", "frees space, resumes", "interrupted", []string{"storage"}, false},
		{exitInterrupted, "interrupted, try again later", "runs kagent resume", "interrupted", []string{
			"network", "timeout", "overloaded", "rate_limit", "server", "crash",
		}, true},
		{exitSigint, "ended by that signal after saving", "runs kagent resume", "interrupted", []string{"signal"}, false},
		{exitSigint, "", "", "cancelled", nil, false},
	}
}

// exitCode maps how a run ended to its exit code. It is 0 for "completed"
// alone: whatever is not known has not finished. Where a signal ended the run,
// the caller puts 128 and its number in the place of exitSigint.
func exitCode(status, reason string) int {
	code := exitFailed
	for _, row := range exitTable() {
		if status == "" || row.status != status {
			continue
		}
		if len(row.reasons) == 0 || slices.Contains(row.reasons, reason) {
			return row.code
		}
		if row.others {
			code = row.code
		}
	}
	return code
}

// exitPreference is the order in which one code is chosen where several fit.
func exitPreference() []int {
	return []int{
		exitStorage, exitDamaged, exitLocked, exitNotFound, exitUsage,
		exitRefused, exitPerson, exitLimit, exitInterrupted, exitFailed,
	}
}

// exitFirst chooses among the codes of several sessions, or several causes. A
// signal comes before all others, success only where nothing else was.
func exitFirst(codes ...int) int {
	if sig := slices.IndexFunc(codes, func(c int) bool { return c > signalBase }); sig >= 0 {
		return codes[sig]
	}
	for _, c := range exitPreference() {
		if slices.Contains(codes, c) {
			return c
		}
	}
	for _, c := range codes {
		if c != exitOK {
			return exitFailed
		}
	}
	return exitOK
}

// exitHelp is the text of `kagent help exit-codes`.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("exit codes, and what a script does\n")
	for _, row := range exitTable() {
		if row.meaning != "" {
			label := strconv.Itoa(row.code)
			if row.code == exitSigint {
				label = "> 128"
			}
			fmt.Fprintf(&b, "\n%6s  %s\n", label, indent(row.meaning+": "+row.script))
		}
		switch {
		case len(row.reasons) > 0:
			fmt.Fprintf(&b, "        %s\n", indent(row.status+": "+strings.Join(row.reasons, ", ")))
		case row.status != "" && row.status != row.meaning:
			fmt.Fprintf(&b, "        %s\n", row.status)
		}
	}
	var order []string
	for _, c := range exitPreference() {
		order = append(order, strconv.Itoa(c))
	}
	fmt.Fprintf(&b, "\nresume when 75 or above 128; when several fit, the first of\n%s\n"+
		"a signal ends the process by that signal, as pid 1 by 128 and its number\n", strings.Join(order, ", "))
	return b.String()
}

// indent breaks a long text into lines below each other under a hanging
// margin of eight, so that nothing is wider than a terminal.
func indent(text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > 70 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n        ")
}
