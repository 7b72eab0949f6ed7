package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// F111: every end of a run has its documented code.
func TestExitCodeOfEachStatusAndReason(t *testing.T) {
	want := map[int]string{
		0: "completed: completed:anything",
		1: "failed:incomplete failed:schema failed:attempts failed:tool failed:content_filter failed:invalid_request " +
			"failed:not_found failed:internal failed:unheard-of failed: active: : nonsense:network",
		6:   "paused:max_steps paused:max_tokens paused:max_cost paused:deadline paused:context_length paused:max_output paused:",
		7:   "paused:approval paused:plan paused:unknown_outcome",
		8:   "failed:auth failed:permission failed:quota",
		9:   "interrupted:storage",
		75:  "interrupted:network interrupted:timeout interrupted:overloaded interrupted:rate_limit interrupted:server interrupted:crash interrupted:",
		130: "interrupted:signal cancelled: cancelled:signal",
	}
	for code, ends := range want {
		for _, end := range strings.Fields(ends) {
			status, reason, _ := strings.Cut(end, ":")
			if got := exitCode(status, reason); got != code {
				t.Errorf("exitCode(%q, %q) = %d, want %d", status, reason, got, code)
			}
		}
	}
}

func TestOnlyCompletedExitsZero(t *testing.T) {
	for _, status := range []string{"", "active", "pending", "failed", "paused", "interrupted", "cancelled", "Completed"} {
		for _, row := range exitTable() {
			for _, reason := range append(row.reasons, "", "completed") {
				if exitCode(status, reason) == 0 {
					t.Errorf("exitCode(%q, %q) = 0", status, reason)
				}
			}
		}
	}
}

func TestExitFirstFollowsThePreference(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{nil, 0},
		{[]int{0, 0}, 0},
		{[]int{0, 75}, 75},
		{[]int{1, 75, 6}, 6},
		{[]int{6, 7, 8}, 8},
		{[]int{8, 2, 3}, 3},
		{[]int{3, 4, 5}, 5},
		{[]int{5, 9}, 9},
		{[]int{9, 143}, 143},
		{[]int{0, 42}, 1},
	} {
		if got := exitFirst(c.codes...); got != c.want {
			t.Errorf("exitFirst(%v) = %d, want %d", c.codes, got, c.want)
		}
	}
}

func TestExitHelpNamesEveryCodeAndReason(t *testing.T) {
	text := exitHelp()
	for _, row := range exitTable() {
		label := fmt.Sprintf("\n%6d  ", row.code)
		if row.code > signalBase {
			label = "\n > 128  "
		}
		for _, part := range append([]string{label, row.status}, row.reasons...) {
			if !strings.Contains(text, part) {
				t.Errorf("the help lacks %q", part)
			}
		}
	}
	if !strings.Contains(text, "9, 5, 4, 3, 2, 8, 7, 6, 75, 1\n") {
		t.Error("the help lacks the preference")
	}
	for line := range strings.Lines(text) {
		if len(line) > 80 {
			t.Errorf("a line is wider than a terminal: %q", line)
		}
	}
}

func TestEveryCodeHasItsPlaceInThePreference(t *testing.T) {
	for _, row := range exitTable() {
		if row.code != 0 && row.code < signalBase && exitFirst(0, row.code) != row.code {
			t.Errorf("code %d has no place", row.code)
		}
	}
}
