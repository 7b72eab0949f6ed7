package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// turn runs an open session until its turn is closed, and reports.
type turn struct {
	app      *app
	store    *checkpoint.Store
	journal  *checkpoint.Journal
	provider provider.Provider
	display  displayFlags
	began    time.Time
	result   result
	name     string // set before each line where several sessions run at once

	limits    map[string]string // of a new session: where they came from, by flag
	live      *liveText         // shows replies as they come; nil: nothing does
	undecided []*session.Call   // calls that wait for a person's word
	tools     *tool.Set
	offered   map[string]bool // models and their tools that were looked at
}

// run is for the one session of a process.
func (t *turn) run(prompt string) error {
	end, err := t.play(prompt)
	if t.result.Session == "" {
		return err
	}
	a := t.app
	a.finish(&t.result, &t.display)
	switch {
	case a.format != "text":
		a.out.json(t.result.as(a.format))
	case t.live.begun() && end.Status == session.Completed:
		t.live.end(t.result.Answer)
	case t.live.begun():
		t.live.end(nil)
	case end.Status == session.Completed:
		a.out.text(*t.result.Answer)
	case t.display.allowPartial && t.result.Partial != nil:
		a.out.text(*t.result.Partial)
	}
	if end.Status == session.Completed {
		a.settle(t.store, t.result.Session)
	}
	t.explain(end, err)
	return nil
}

// finish settles the exit code, and on success keeps the answer.
func (a *app) finish(res *result, d *displayFlags) {
	a.code = res.code()
	if a.ephemeral {
		res.Checkpoint, res.Resume = "", ""
	}
	if d.record != "" {
		a.keep(res, "the recording", d.record, a.record(res.Session, d.record))
	}
	if a.code == exitOK && d.answerFile != "" {
		a.keep(res, "the answer", d.answerFile, replaceFile(a.signals.ctx, d.answerFile, []byte(ended(*res.Answer)), 0o666))
	}
}

// keep tells of a file that could not be written.
func (a *app) keep(res *result, what, file string, err error) {
	if err == nil {
		return
	}
	if a.code = exitStorage; a.signals.ended() && errors.Is(err, context.Cause(a.signals.ctx)) {
		a.code = exitSigint // nobody came to read it, and who waited was stopped
	}
	why := fmt.Sprintf("%s could not be written to %s: %v; the session has it", what, file, cause(err))
	res.Warnings = append(res.Warnings, why)
	a.say("kagent: %s", why)
}

// play runs the turn until it is closed, durably, and fills in the result. The
// result is empty where nothing could be begun.
func (t *turn) play(prompt string) (agent.Finish, error) {
	a, s := t.app, t.journal.State()
	defer t.journal.Close()
	// First of all, before anything is paid for, and even when quiet.
	a.say("session %s", s.ID)
	for _, why := range checkpoint.Doubts(a.dir) {
		t.result.Warnings = append(t.result.Warnings, a.dir+": "+why)
	}
	for _, w := range t.result.Warnings {
		t.say("warning: %s", w)
	}
	r, err := a.runner(t.journal, t.provider)
	if err != nil {
		return agent.Finish{}, err
	}
	t.tools = r.Tools
	defer r.Tools.Close() // before the journal, whose lock its commands hold
	show := t.attend()
	r.Observe = show.observe
	r.Delta = t.delta(show.screen)
	ctx, done := heed(a.signals.ctx, t.journal.Inbox())
	end, err := t.patiently(ctx, r, prompt)
	done()
	show.leave(end)
	if end.Reason == session.ReasonUnknownOutcome {
		t.undecided = r.Undecided()
	}
	t.result.fill(s, end, t.store)
	for _, c := range t.undecided {
		t.result.Resume += " --outcome '" + verdictsOn(c.ID) + "'"
	}
	t.result.DurationMs = time.Since(t.began).Milliseconds()
	t.result.Error = t.traced(end)
	if err != nil && t.result.Error == nil {
		t.result.Error = &session.Failure{Kind: string(end.Reason), Message: err.Error()}
	}
	return end, err
}

// traced is how the turn failed; a limit that no flag had given says where it
// was configured.
func (t *turn) traced(end agent.Finish) *session.Failure {
	flag, _, _ := strings.Cut(strings.TrimPrefix(raised(t.journal.State(), end.Reason), " --"), " ")
	source := t.limits[flag]
	if t.result.Error == nil || source == "" {
		return t.result.Error
	}
	f := *t.result.Error
	f.Message += "; it comes from " + source
	return &f
}

// notice keeps what a script should be warned of.
func (t *turn) notice(scope string, d session.Data) {
	switch d := d.(type) {
	case *session.RequestHeader:
		t.schemas(d)
	case *session.RequestRetried:
		if d.Next != "" {
			t.result.warn(d.Next + " was asked instead: " + oneLine(d.Error.Message, 300))
		}
	case *session.AssistantMessage:
		if w := maskedIn(d); w != "" && t.result.warn(w) {
			t.say("warning: %s", w)
		}
	case *session.RouteSet, *session.PlanSet, *session.GraphSet, *session.VerdictGiven, *session.CompactFailed:
		if w := agent.Fallback(t.journal.State(), scope, d); w != "" && t.result.warn(oneLine(w, 1000)) {
			t.say("warning: %s", oneLine(w, 1000))
		}
	}
}

// maskedIn says what was masked in a reply, "" of one that is as the model said it.
func maskedIn(d *session.AssistantMessage) string {
	if len(d.Masked) == 0 {
		return ""
	}
	return oneLine("a reply of "+d.Model+" held what is a secret, or looks like one, and was masked: "+strings.Join(d.Masked, ", "), 1000)
}

// say is a line for people.
func (t *turn) say(format string, args ...any) { t.app.say("%s", t.named(format, args)) }

// note is a line for the log file.
func (t *turn) note(format string, args ...any) { t.app.log.write(t.named(format, args)) }

func (t *turn) named(format string, args []any) string {
	text := upright(fmt.Sprintf(format, args...))
	if t.name != "" {
		text = t.name + ": " + text
	}
	return text
}

// delta returns what shows text as it comes, nil where nothing does.
func (t *turn) delta(screen *screen) func(scope string, d agent.Delta) {
	a := t.app
	switch {
	case t.name != "": // the texts of several sessions would mix
	case a.format == "jsonl":
		return func(scope string, d agent.Delta) {
			a.out.json(delta{"assistant/delta", scope, d.Step, d.Text, d.Attempt, d.Model})
		}
	case a.format == "text" && (t.display.stream || a.out.terminal):
		t.live = t.liveText(screen)
		return func(scope string, d agent.Delta) {
			if scope == "" {
				t.live.add(d)
			}
		}
	}
	return nil
}

func (t *turn) liveText(screen *screen) *liveText {
	a, last := t.app, "\n"
	l := &liveText{state: t.journal.State(), warn: t.say}
	l.write = func(text string) {
		last = text[len(text)-1:]
		io.WriteString(a.out, text)
	}
	l.fresh = func() bool { return last == "\n" }
	if screen != nil && a.out.terminal {
		direct := l.write
		l.write = func(text string) { screen.text(text, func() { direct(text) }) }
		l.fresh, l.lined = screen.fresh, true
	}
	return l
}

// delta is streamed text: it is passing, and no event of the log. Once an attempt
// at a step of a scope has spoken, what earlier ones said of it is void.
type delta struct {
	Type    string `json:"type"`
	Scope   string `json:"scope,omitempty"`
	Step    int    `json:"step"` // its step/start follows when it is durable
	Text    string `json:"text"`
	Attempt int    `json:"attempt"`
	Model   string `json:"model"`
}

// explain says on stderr why there is no answer, and how to go on.
func (t *turn) explain(end agent.Finish, err error) {
	if t.result.refused {
		t.say("denied: %s", strings.Join(t.result.Denied, ", "))
	}
	if end.Status == session.Completed {
		return
	}
	why := standing(end.Status, end.Reason)
	if t.result.Error != nil {
		why += ": " + failureLine(t.journal.State(), end.Reason, t.result.Error)
	}
	if t.name == "" {
		why = "kagent: " + why
	}
	t.say("%s", why)
	for _, line := range storageHints(err) {
		t.say("%s", line)
	}
	if t.live.cut() {
		t.say("the reply shown was cut off: it is no answer")
	}
	t.doubts()
	t.plan(end)
	if at := t.result.RetryAt; at != nil {
		t.say("not before %s", at.Local().Format(time.RFC3339))
	}
	if t.result.Resume != "" {
		t.say("resume with: %s", t.result.Resume)
	}
}

// endOf is how a session's turn was closed.
func endOf(s *session.State) agent.Finish {
	t := s.Main().Turn
	return agent.Finish{Status: t.Status, Reason: t.Reason, End: session.TurnEnd{Error: t.Error, RetryAt: t.RetryAt}}
}

// standing is a status with its reason.
func standing(status session.Status, reason session.Reason) string {
	if reason == "" {
		return string(status)
	}
	return string(status) + ": " + string(reason)
}

// plan shows the plan that a person is to decide on.
func (t *turn) plan(end agent.Finish) {
	if plan := t.journal.State().Main().Work.Plan; plan != nil && end.Reason == session.ReasonPlan {
		if w := agent.Fallback(t.journal.State(), "", plan); w != "" {
			t.say("no model made this plan, it is the fallback: %s", oneLine(w, 1000))
		}
		for i, step := range plan.Steps {
			t.say("%3d. %s", i+1, oneLine(step, 500))
		}
	}
}

// doubts lists what a person has to decide.
func (t *turn) doubts() {
	for _, c := range t.undecided {
		t.say("call %s (%s %s) had begun when kagent was stopped; say what became of it: --outcome %s",
			c.ID, oneLine(c.Wire.Name, 64), oneLine(c.Wire.Arguments, 200), verdictsOn(c.ID))
	}
}
