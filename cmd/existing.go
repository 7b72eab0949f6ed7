package cmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// The answers to --if-exists.
const (
	existsFail     = "fail"
	existsResume   = "resume"
	existsContinue = "continue"
	existsSkip     = "skip"
	existsNew      = "new"
)

// A start is what `run` was asked for. Whatever other starters of the same id
// do meanwhile, one of them makes the session and the others find it.
type start struct {
	app      *app
	cmd      *cobra.Command
	opts     *runOptions
	store    *checkpoint.Store
	created  session.Created
	provider provider.Provider // for a new session; nil: not made yet
	began    time.Time
	result   result
}

// existsError says which session stands in the way of a new one.
type existsError struct{ id string }

func (e *existsError) Error() string { return "session " + e.id + " exists" }

func (e *existsError) Unwrap() error { return checkpoint.ErrExists }

// begin makes the session, or goes on with the one that is there.
func (s *start) begin(id string, locked lockPolicy) error {
	var t *turn
	var prompt string
	err := locked.take(s.app.signals.ctx, s.app.sayUnless(s.opts.display.quiet), func() (err error) {
		t, prompt, err = s.open(s.app.signals.ctx, id)
		return err
	})
	switch {
	case err != nil:
		return s.app.unlessSkipped(err, s.result, s.opts.display.quiet)
	case t == nil:
		return nil // it is completed, and that was said
	}
	return t.run(prompt)
}

// open returns the turn to run, nil if there is nothing to do, and what it is
// prompted with. A session that comes or goes meanwhile is looked for again.
func (s *start) open(ctx context.Context, id string) (*turn, string, error) {
	for ctx.Err() == nil {
		t, err := s.create(id)
		switch {
		case !errors.Is(err, checkpoint.ErrExists):
			return t, "", err
		case s.opts.ifExists == existsFail:
			return nil, "", &existsError{id}
		}
		t, prompt, err := s.existing(id)
		var gone *checkpoint.NotFoundError
		if !errors.As(err, &gone) {
			return t, prompt, err
		}
	}
	return nil, "", context.Cause(ctx)
}

func (s *start) create(id string) (*turn, error) {
	if s.there(id) { // nothing is asked of a model that is not needed
		return nil, checkpoint.ErrExists
	}
	if err := s.needProvider(); err != nil {
		return nil, err
	}
	j, err := s.store.Create(id, s.created)
	if err != nil {
		return nil, err
	}
	t := s.turn(j, s.provider, nil)
	t.limits = s.app.limits
	return t, nil
}

// there reports whether a session is there to go on with.
func (s *start) there(id string) bool {
	if s.opts.ifExists == existsFail || s.opts.ifExists == existsNew {
		return false
	}
	_, err := s.store.Summary(id)
	return err == nil
}

// needProvider makes the way to a new session's model, once.
func (s *start) needProvider() (err error) {
	if s.provider == nil {
		if err := checkPrices(s.created.Settings, nil); err != nil {
			return err
		}
		s.provider, err = newProvider(s.created.Settings)
	}
	return err
}

func (s *start) turn(j *checkpoint.Journal, p provider.Provider, warnings []string) *turn {
	t := &turn{app: s.app, store: s.store, journal: j, provider: p, display: s.opts.display, began: s.began, result: s.result}
	t.result.Warnings = append(t.result.Warnings, warnings...)
	return t
}

// existing goes on with a session as --if-exists says.
func (s *start) existing(id string) (*turn, string, error) {
	prompt := ""
	if s.opts.ifExists == existsContinue {
		prompt = s.created.Task
	}
	for looked := false; ; looked = true {
		if prompt == "" {
			if done, err := s.completed(id); done || err != nil {
				return nil, "", err
			}
		}
		r := &reopening{app: s.app, cmd: s.cmd, store: s.store, flags: &s.opts.settings, given: s.cmd.Flags().Changed, prompted: prompt != ""}
		r.admit = func(there *session.State) error {
			if status, _ := there.Status(); status == session.Completed && prompt == "" && !looked {
				return errMeanwhile
			}
			return s.fits(there)
		}
		switch got, err := r.open(id); {
		case errors.Is(err, errMeanwhile):
		case err != nil:
			return nil, "", err
		default:
			return s.turn(got.journal, got.provider, got.warnings), prompt, nil
		}
	}
}

// errMeanwhile says that another start has completed the session since it was
// looked at: it has printed the answer.
var errMeanwhile = errors.New("completed meanwhile")

// fits refuses a session that was begun for something else.
func (s *start) fits(there *session.State) error {
	if agent := s.created.Settings.Agent; s.cmd.Flags().Changed("agent") && agent != there.Settings.Agent {
		return usageErrorf("leave --agent out, or choose another --session", "session %s is run by the agent %s, not %s", there.ID, there.Settings.Agent, agent)
	}
	if s.opts.ifExists == existsContinue || hashOf(there.Task) == s.created.PromptHash || there.PromptHash == s.created.PromptHash {
		return nil
	}
	return usageErrorf("--if-exists continue adds this one as a turn, new begins another session", "session %s was begun with another prompt", there.ID)
}

// completed deals with a session that needs no more work, without taking it:
// it prints the answer again, or with skip says only that there is one, unless
// its answer has never arrived.
func (s *start) completed(id string) (bool, error) {
	v, done, err := s.app.readCompleted(s.store, id)
	if !done || err != nil {
		return false, err
	}
	if err := s.fits(v.State); err != nil {
		return false, err
	}
	if s.opts.ifExists == existsResume {
		if err := s.app.reshape(s.store, v.State, &s.opts.settings, s.cmd.Flags().Changed); err != nil {
			return false, err
		}
	}
	res := completedResult(v.State, s.store, s.began)
	res.Warnings, res.Stdin = append(res.Warnings, s.result.Warnings...), s.result.Stdin
	res.refused = res.refused && s.opts.ifExists != existsSkip // there is nothing to do
	skip := s.opts.ifExists == existsSkip
	if !skip || !s.opts.display.quiet {
		s.app.say("session %s", id)
	}
	if skip && s.app.format == "text" {
		if s.overdue(res) {
			return true, nil
		}
		s.app.finish(&res, &s.opts.display) // whoever completed it may have died before that
		s.app.sayUnless(s.opts.display.quiet)("completed already: nothing to do")
		return true, nil
	}
	s.app.answer(res, &s.opts.display)
	return true, nil
}

// fresh returns an id for --if-exists new: the one that was given while it is
// free, then ID-2 and so on, behind all there are.
func (s *start) fresh(id string) (string, error) {
	ids, err := s.store.IDs()
	if err != nil {
		return "", err
	}
	last := 0
	base := id[:min(len(id), maxDerived)]
	numbered := regexp.MustCompile("(?i)^" + regexp.QuoteMeta(base) + `-([0-9]{1,9})$`)
	for _, other := range ids {
		if strings.EqualFold(other, id) {
			last = max(last, 1)
		}
		if m := numbered.FindStringSubmatch(other); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits, few enough
			last = max(last, n)
		}
	}
	if last == 0 {
		return id, nil
	}
	return fmt.Sprintf("%s-%d", base, last+1), nil
}

// maxDerived is how much of an id a derived one keeps, so that it stays an id.
const maxDerived = 128 - len("-999999999")

// beginNew is begin for --if-exists new: an id that another starter took in
// between is left to it.
func (s *start) beginNew(key string) error {
	for ctx := s.app.signals.ctx; ctx.Err() == nil; {
		id, err := s.fresh(key)
		if err != nil {
			return err
		}
		t, err := s.create(id)
		var held *checkpoint.InUseError
		switch {
		case errors.Is(err, checkpoint.ErrExists), errors.As(err, &held):
			continue
		case err != nil:
			return err
		}
		return t.run("")
	}
	return context.Cause(s.app.signals.ctx)
}
