package cmd

import (
	"os"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

// audience is everybody who watches a turn: a person at a terminal, the log of
// a CI service, a log file, a monitor that reads status.json.
type audience struct {
	turn   *turn
	is     *activity
	show   *progress
	groups *groups
	screen *screen
	status *statusFile
}

// attend lets them watch from here on.
func (t *turn) attend() *audience {
	a := t.app
	w := &audience{turn: t, is: newActivity(t.journal.State(), time.Now)}
	w.show = &progress{say: t.told(t.display.quiet), detail: t.told(t.display.quiet || !t.display.verbose), plan: t.journal.State().Main().Work.Plan}
	alone := t.name == "" && !t.display.quiet
	if service := a.ci; alone && service != "" {
		w.groups = &groups{out: a.stderr, service: service, now: time.Now}
		w.show.group = func(title string) {
			a.log.write(title)
			w.groups.begin(title)
		}
	} else if alone {
		w.screen = liveScreen(os.Stderr, a.stderr, func(rows int) []string { return w.is.look().live(time.Now(), rows) })
	}
	if w.screen != nil {
		a.stderr = w.screen
		w.screen.start()
	}
	w.status = startStatus(t.journal, w.is)
	return w
}

// told returns how a line is told: on stderr and in the log file, or there alone.
func (t *turn) told(quiet bool) func(format string, args ...any) {
	if quiet {
		return t.note
	}
	return t.say
}

func (w *audience) observe(scope string, d session.Data) {
	w.turn.live.observe(scope, d)
	w.turn.notice(scope, d)
	w.is.observe(scope, d)
	w.show.observe(scope, d)
}

// leave ends the show.
func (w *audience) leave(end agent.Finish) {
	w.status.end(end.Status, end.Reason)
	if w.groups != nil {
		w.groups.end()
	}
	if w.screen != nil {
		w.screen.close()
		w.turn.app.stderr = w.screen.out
	}
}
