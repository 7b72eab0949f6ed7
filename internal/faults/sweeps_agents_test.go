//go:build faults

package faults

// agentSweeps are kills and power cuts of sessions that have children: a
// plan-solve with another plan, an orchestrator with nodes in parallel.
func agentSweeps() []sweep {
	var sweeps []sweep
	for _, agent := range []string{"plan-solve", "orchestrator"} {
		sweeps = append(sweeps,
			sweep{
				name: agent + ", killed", tool: "killpoints", agent: agent, run: "run.sh", recover: "recover.sh",
				args: []string{"--actions", deaths}, short: []string{"--every", "13"},
			},
			sweep{
				name: agent + ", killed, and the recovery too", tool: "killpoints", agent: agent, run: "run.sh", recover: "recover.sh",
				args: []string{"--actions", "kill", "--every", "11", "--double", "1"}, slow: true,
			},
			sweep{
				name: agent + ", power cut after a kill, without recovery", tool: "powerloss", agent: agent, run: "recover.sh",
				args: []string{"--after-kill", "29", "--max-states", "100000"}, slow: true, long: []string{"--after-kill", "5"},
			},
			sweep{
				name: agent + ", ended by SIGTERM", tool: "killpoints", agent: agent, run: "run.sh", recover: "recover.sh",
				args: []string{"--actions", "sig:TERM", "--sig-exit", "0,143"}, short: []string{"--every", "31"},
			},
			sweep{
				name: agent + ", power cut", tool: "powerloss", agent: agent, run: "run.sh", recover: "recover.sh", slow: true,
			},
			sweep{
				name: agent + ", power cut, without recovery", tool: "powerloss", agent: agent, run: "run.sh", slow: true,
			},
		)
	}
	return append(sweeps,
		sweep{
			name: "orchestrator, power cut in its nodes, without recovery", tool: "powerloss", agent: "orchestrator", run: "firststep.sh",
		},
		sweep{
			name: "orchestrator, power cut of a resume", tool: "powerloss", agent: "orchestrator", setup: "kept.sh", run: "resume.sh", recover: "recover.sh",
			slow: true,
		})
}

// brokenAgents are programs that break what is promised of children.
var brokenAgents = []broken{
	{
		"a question asked anew after a kill",
		[]edit{{"pkg/agent/decide.go", "if task.asked(c.Child) &&", "if c.Ended() && task.asked(c.Child) &&"}},
		sweep{tool: "killpoints", agent: "orchestrator", run: "run.sh", recover: "recover.sh", args: []string{"--actions", "killafter", "--every", "3"}},
		"replies, want 7", true,
	},
}
