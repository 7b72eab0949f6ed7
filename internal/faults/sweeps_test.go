//go:build faults

package faults

import (
	"slices"
	"testing"
)

const deaths = "kill,killafter,torn:half,torn:0"

// deathSweeps are kills, signals, power cuts and races.
func deathSweeps() []sweep {
	return []sweep{
		{
			name: "killed", tool: "killpoints", run: "run.sh", recover: "recover.sh",
			args: []string{"--actions", deaths}, short: []string{"--every", "5"},
		},
		{
			name: "killed, without recovery", tool: "killpoints", run: "run.sh",
			args: []string{"--actions", deaths}, short: []string{"--every", "7"},
		},
		{
			name: "killed, and the recovery too", tool: "killpoints", run: "run.sh", recover: "recover.sh",
			args: []string{"--actions", "kill", "--every", "5", "--double", "1"}, short: []string{"--every", "71"},
		},
		signalled("TERM", "0,143"), signalled("INT", "0,130"), signalled("HUP", "0,129"),
		{
			name: "power cut", tool: "powerloss", run: "run.sh", recover: "recover.sh", brief: true,
		},
		{ // in the short profile those after a kill begin with it
			name: "power cut, without recovery", tool: "powerloss", run: "run.sh", slow: true,
		},
		{
			name: "power cut after a kill", tool: "powerloss", run: "run.sh", recover: "recover.sh",
			args: []string{"--after-kill", "17", "--max-states", "100000"}, slow: true,
		},
		{
			name: "power cut after a kill, without recovery", tool: "powerloss", run: "recover.sh", brief: true,
			args: []string{"--after-kill", "13", "--max-states", "100000"}, short: []string{"--after-kill", "90"},
			long: []string{"--after-kill", "1", "--max-states", "1000000"},
		},
		{
			name: "two resumes at once", tool: "race", setup: "paused.sh", run: "resume.sh", recover: "recover.sh",
			args:  []string{"--procs", "2", "--rounds", "60", "--loser-exits", "4", "--pause"},
			short: []string{"--rounds", "20", "--every", "10"},
		},
		{
			name: "four new sessions of one id at once", tool: "race", run: "run.sh", recover: "recover.sh",
			args:  []string{"--procs", "4", "--rounds", "40", "--loser-exits", "2,4", "--max-winners", "1", "--pause", "--every", "3"},
			short: []string{"--rounds", "15", "--every", "20"},
		},
		{
			name: "two resumes of everything at once", tool: "race", setup: "paused.sh", run: "resumeall.sh", recover: "recover.sh",
			args:  []string{"--procs", "2", "--rounds", "40", "--pause", "--every", "2"},
			short: []string{"--rounds", "15", "--every", "20"},
		},
		{
			name: "four starters of one session at once", tool: "race", run: "runonce.sh", recover: "recover.sh",
			args:  []string{"--procs", "4", "--rounds", "40", "--loser-exits", "4", "--pause", "--every", "3"},
			short: []string{"--rounds", "15", "--every", "20"},
		},
	}
}

// signalled is the sweep of one signal at every call. The run saves its session
// and then ends by the signal; when it was done already it ends with 0.
func signalled(name, exits string) sweep {
	return sweep{
		name: "ended by SIG" + name, tool: "killpoints", run: "run.sh", recover: "recover.sh",
		args: []string{"--actions", "sig:" + name, "--sig-exit", exits}, short: []string{"--every", "9"},
	}
}

// TestFaults runs all sweeps on the program as it is.
func TestFaults(t *testing.T) {
	l := newLab(t)
	binary := l.build(t, "")
	for _, s := range slices.Concat(deathSweeps(), agentSweeps(), compactSweeps(), errorSweeps(), damageSweeps(), forkSweeps(), importSweeps(), houseSweeps()) {
		t.Run(s.name, func(t *testing.T) {
			if s.slow && l.short {
				t.Skip("not in the short profile")
			}
			if s.mounts && !mayMount(t) {
				t.Skip("this process may not mount a loop device")
			}
			r := l.sweep(t, binary, s)
			t.Logf("%s: %s", s.tool, r.figures())
			if r.err != nil || r.Tried == 0 {
				t.Errorf("%s: %v\n%s", s.tool, r.err, r.output)
			}
		})
	}
}
