//go:build faults

package faults

// compactSweeps disturb the making of a summary: by `kagent compact`, and by a
// session whose next request would be too long.
func compactSweeps() []sweep {
	explicit := func(s sweep) sweep {
		s.agent, s.setup, s.run, s.check = "spoken", "spoken.sh", "compact.sh", "compacted"
		return s
	}
	again := func(s sweep) sweep {
		s = explicit(s)
		s.recover = "compactagain.sh"
		return s
	}
	return []sweep{
		again(sweep{
			name: "a compact is killed", tool: "killpoints", args: []string{"--actions", deaths}, short: []string{"--every", "5"},
		}),
		explicit(sweep{
			name: "a compact is killed, without recovery", tool: "killpoints", args: []string{"--actions", deaths}, short: []string{"--every", "7"},
		}),
		again(sweep{
			name: "a compact is killed, and the recovery too", tool: "killpoints", slow: true,
			args: []string{"--actions", "kill", "--every", "3", "--double", "1"},
		}),
		again(sweep{
			name: "a compact is ended by SIGTERM", tool: "killpoints",
			args: []string{"--actions", "sig:TERM", "--sig-exit", "0,143"}, short: []string{"--every", "3"},
		}),
		explicit(sweep{
			name: "a compact is ended by SIGINT, without recovery", tool: "killpoints",
			args: []string{"--actions", "sig:INT", "--sig-exit", "0,130"}, short: []string{"--every", "5"},
		}),
		again(sweep{name: "power cut of a compact", tool: "powerloss", slow: true}),
		explicit(sweep{name: "power cut of a compact, without recovery", tool: "powerloss"}),
		again(sweep{
			name: "a call of a compact fails", tool: "errsweep",
			args: []string{"--errors", diskErrors + ",EIO,EIO+", "--kinds", allCalls}, short: []string{"--every", "17"},
		}),
		{
			name: "summarised between steps, killed", tool: "killpoints", agent: "summed", run: "run.sh", recover: "recover.sh",
			args: []string{"--actions", deaths}, short: []string{"--every", "13"},
		},
		{
			name: "summarised between steps, killed, and the recovery too", tool: "killpoints", agent: "summed", run: "run.sh", recover: "recover.sh",
			args: []string{"--actions", "kill", "--every", "11", "--double", "1"}, slow: true,
		},
		{
			name: "summarised first, killed", tool: "killpoints", agent: "summed", setup: "latepaused.sh", run: "resume.sh", recover: "recover.sh",
			args: []string{"--actions", deaths}, short: []string{"--every", "13"},
		},
		{
			name: "summarised between steps, ended by SIGTERM", tool: "killpoints", agent: "summed", run: "run.sh", recover: "recover.sh",
			args: []string{"--actions", "sig:TERM", "--sig-exit", "0,143"}, short: []string{"--every", "31"},
		},
		{
			name: "summarised between steps, power cut", tool: "powerloss", agent: "summed", run: "run.sh", recover: "recover.sh", slow: true,
		},
		{
			name: "summarised between steps, power cut, without recovery", tool: "powerloss", agent: "summed", run: "run.sh", slow: true,
		},
		{
			name: "summarised first, a call fails", tool: "errsweep", agent: "summed", setup: "latepaused.sh", run: "resume.sh", recover: "verified.sh",
			args: []string{"--errors", diskErrors + ",EIO,EIO+", "--kinds", allCalls}, short: []string{"--every", "41"},
		},
	}
}

const summaries = "pkg/agent/compact.go"

// brokenSummaries are programs that break what is promised of summaries.
var brokenSummaries = []broken{
	{
		"a summary reported before it is durable",
		[]edit{{summaries, "err = r.commit()", "err = error(nil)"}},
		sweep{tool: "powerloss", agent: "spoken", setup: "spoken.sh", run: "compact.sh", check: "compacted"},
		"lost: the summary was reported", false,
	},
	{
		"a summary asked for anew after a kill",
		[]edit{{
			summaries, "\treturn goOn(child)\n",
			"\twhy := explain(session.FailureSuperseded, \"asked for anew\")\n\treturn Record{[]session.Data{&session.CompactFailed{Error: why, From: child.Name}}}\n",
		}},
		sweep{
			tool: "killpoints", agent: "spoken", setup: "spoken.sh", run: "compact.sh", recover: "compactagain.sh", check: "compacted",
			args: []string{"--actions", "killafter"},
		},
		"2 summaries were paid for", false,
	},
	{
		"a stopped summary let go although it was paid for",
		[]edit{{summaries, "|| answered(s, from) {", "{"}, {summaries, "func answered(", "func _("}},
		sweep{
			tool: "killpoints", agent: "spoken", setup: "spoken.sh", run: "compact.sh", recover: "compactagain.sh", check: "compacted",
			args: []string{"--actions", "sig:TERM", "--sig-exit", "0,143"},
		},
		"2 summaries were paid for", false,
	},
	{
		"a stopped summary that ends the session's turn",
		[]edit{{summaries, "err = r.giveUpSummary(end)", "err = r.append(\"\", &session.TurnEnd{Turn: sc.Turn.N, Status: end.Status, Reason: end.Reason})"}, {summaries, "func (r *Runner) giveUpSummary(", "func (r *Runner) _("}},
		sweep{
			tool: "killpoints", agent: "spoken", setup: "spoken.sh", run: "compact.sh", check: "compacted",
			args: []string{"--actions", "sig:INT", "--sig-exit", "0,130"},
		},
		"list: ", true,
	},
}
