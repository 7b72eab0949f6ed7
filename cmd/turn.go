package cmd

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// displayFlags say what is shown while an agent runs.
type displayFlags struct {
	quiet  bool
	stream bool
}

func (d *displayFlags) addTo(f *pflag.FlagSet) {
	f.BoolVarP(&d.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVar(&d.stream, "stream", false, "show the text on stdout as it comes (default on a terminal)")
}

// turn runs an open session until its turn is closed, and reports.
type turn struct {
	app      *app
	store    *checkpoint.Store
	journal  *checkpoint.Journal
	provider provider.Provider
	display  displayFlags
	began    time.Time
	result   result

	streamed  bool            // text has gone to stdout
	undecided []*session.Call // calls that wait for a person's word
}

func (t *turn) run(prompt string) error {
	a, s := t.app, t.journal.State()
	// First of all, before anything is paid for, and even when quiet.
	a.say("session %s", s.ID)
	for _, why := range checkpoint.Doubts(a.dir) {
		t.result.Warnings = append(t.result.Warnings, a.dir+": "+why)
	}
	for _, w := range t.result.Warnings {
		a.say("warning: %s", w)
	}
	r, err := a.runner(t.journal, t.provider)
	if err != nil {
		t.journal.Close()
		return err
	}
	show := &progress{app: a, quiet: t.display.quiet, now: time.Now}
	r.Observe = show.observe
	switch {
	case a.format == "jsonl":
		r.Delta = func(text string) { a.out.json(delta{"assistant/delta", s.Main().Steps + 1, text}) }
	case a.format == "text" && (t.display.stream || a.out.terminal):
		step := 0
		r.Delta = func(text string) {
			if now := s.Main().Steps; t.streamed && now != step {
				text = "\n" + text // what another reply says is another line
			}
			t.streamed, step = true, s.Main().Steps
			a.out.Write([]byte(text))
		}
	}
	end, err := r.Run(a.signals.ctx, prompt)
	if end.Reason == session.ReasonUnknownOutcome {
		t.undecided = r.Undecided()
	}
	t.journal.Close()
	return t.report(end, err)
}

// delta is streamed text: it is passing, and no event of the log.
type delta struct {
	Type string `json:"type"`
	Step int    `json:"step"` // its step/start follows when it is durable
	Text string `json:"text"`
}

// report tells the outcome, after it is durable.
func (t *turn) report(end agent.Finish, err error) error {
	a, s := t.app, t.journal.State()
	t.result.fill(s, end, t.store)
	t.result.DurationMs = time.Since(t.began).Milliseconds()
	if err != nil && t.result.Error == nil {
		t.result.Error = &session.Failure{Kind: string(end.Reason), Message: err.Error()}
	}
	a.code = exitCode(string(end.Status), string(end.Reason))
	switch {
	case a.format != "text":
		a.out.json(t.result.as(a.format))
	case t.streamed:
		a.out.text("")
	case end.Status == session.Completed:
		a.out.text(*t.result.Answer)
	}
	if end.Status != session.Completed {
		why := string(end.Status)
		if end.Reason != "" {
			why += ": " + string(end.Reason)
		}
		if t.result.Error != nil {
			why += ": " + oneLine(strings.TrimPrefix(t.result.Error.Message, string(end.Reason)+": "), 1000)
		}
		a.say("kagent: %s", why)
		for _, line := range storageHints(err) {
			a.say("%s", line)
		}
		t.doubts()
		if at := t.result.RetryAt; at != nil {
			a.say("not before %s", at.Local().Format(time.RFC3339))
		}
		a.say("resume with: %s", t.result.Resume)
	}
	return nil
}

// doubts lists what a person has to decide.
func (t *turn) doubts() {
	for _, c := range t.undecided {
		t.app.say("call %s (%s %s) had begun when kagent was stopped; say what became of it: --outcome %s=done|not-done|rerun",
			c.ID, oneLine(c.Wire.Name, 64), oneLine(c.Wire.Arguments, 200), c.ID)
	}
}
