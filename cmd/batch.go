package cmd

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// batchFlags choose several sessions to resume.
type batchFlags struct {
	interrupted bool
	status      string
	reason      string
	jobs        int
	maxAttempts int
	dryRun      bool
}

func (b *batchFlags) addTo(f *pflag.FlagSet) {
	f.BoolVar(&b.interrupted, "interrupted", false, "all interrupted sessions that no one runs, the oldest first")
	f.StringVar(&b.status, "status", "", "all sessions of that status: interrupted, paused, failed, cancelled")
	f.StringVar(&b.reason, "reason", "", "of these, or of all, only those with that reason")
	f.IntVar(&b.jobs, "jobs", 1, "how many of them to run at once")
	f.IntVar(&b.maxAttempts, "max-attempts", 0, "of these, mark as failed what was begun so often without a new step, 0: never")
	f.BoolVar(&b.dryRun, "dry-run", false, "of these, only say which would be resumed")
}

// chosen reports whether the flags ask for several sessions.
func (b *batchFlags) chosen() bool { return b.interrupted || b.status != "" || b.reason != "" }

// check refuses what can't be meant, and completes the rest.
func (b *batchFlags) check(c *cobra.Command, single bool) error {
	if !b.chosen() {
		for _, name := range []string{"jobs", "max-attempts", "dry-run"} {
			if c.Flags().Changed(name) {
				return usageErrorf("add --interrupted", "--%s is for several sessions", name)
			}
		}
		return nil
	}
	if single {
		return usageErrorf("give the one or the other", "ids, --last, prompts, --answer-file, --record and --outcome do not go with --interrupted, --status and --reason")
	}
	if b.interrupted && b.status == "" {
		b.status = string(session.Interrupted)
	}
	if b.interrupted && b.status != string(session.Interrupted) {
		return usageErrorf("leave one of them out", "--interrupted and --status %s exclude each other", b.status)
	}
	resumable := []string{string(session.Interrupted), string(session.Paused), string(session.Failed), string(session.Cancelled)}
	if b.status != "" {
		if err := oneOf("status", b.status, resumable...); err != nil {
			return err
		}
	}
	if b.jobs < 1 {
		return usageErrorf("want 1 or more", "--jobs %d runs nothing", b.jobs)
	}
	return notNegative("max-attempts", b.maxAttempts)
}

// wants tells whether a session is to be resumed now.
func (b *batchFlags) wants(status session.Status, reason session.Reason, retryAt, now time.Time) bool {
	switch {
	case status == session.Completed || status == checkpoint.Damaged,
		b.status != "" && b.status != string(status),
		b.reason != "" && b.reason != string(reason),
		status == session.Interrupted && retryAt.After(now):
		return false
	}
	return true
}

func (b *batchFlags) exhausted(attempts int) bool {
	return b.maxAttempts > 0 && attempts >= b.maxAttempts
}

// batch resumes several sessions. Each has one line, or one result, on stdout.
type batch struct {
	batchFlags
	app   *app
	cmd   *cobra.Command
	store *checkpoint.Store
	opts  *resumeOptions
	given func(string) bool
	mu    sync.Mutex
	codes []int
}

func (a *app) resumeAll(c *cobra.Command, o *resumeOptions) error {
	b := &batch{batchFlags: o.batch, app: a, cmd: c, opts: o, given: c.Flags().Changed}
	// The events of several sessions in one stream would be of no use.
	b.store = checkpoint.NewStore(a.dir, checkpoint.Options{Owner: checkpoint.ThisProcess(version), Trusted: sudoer()})
	a.checkDir()
	list, err := b.store.List()
	if err != nil {
		return err
	}
	slices.Reverse(list) // the oldest first
	list = slices.DeleteFunc(list, b.passesOver)
	if b.dryRun {
		for _, s := range list {
			b.foretell(s)
		}
		return nil
	}
	b.runAll(a.signals.ctx, list)
	if err := context.Cause(a.signals.ctx); err != nil {
		code, _, _ := classify(err)
		b.codes = append(b.codes, code)
	}
	a.code = exitFirst(b.codes...)
	return nil
}

// passesOver tells which sessions of a list are left alone. What it says is
// asked again once the session is taken.
func (b *batch) passesOver(s checkpoint.Summary) bool {
	var retryAt time.Time
	if s.RetryAt != nil {
		retryAt = *s.RetryAt
	}
	return s.Owner != nil || !b.wants(s.Status, s.Reason, retryAt, time.Now())
}

func (b *batch) foretell(s checkpoint.Summary) {
	what := "would be resumed"
	if b.exhausted(s.Attempts) {
		what = "would be marked as failed: attempts"
	}
	b.app.out.text(s.SessionID + " " + standing(s.Status, s.Reason) + ": " + what)
}

// runAll runs jobs sessions at once and waits for all that were begun.
func (b *batch) runAll(ctx context.Context, list []checkpoint.Summary) {
	slots := make(chan struct{}, b.jobs)
	var all sync.WaitGroup
	for _, s := range list {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			b.one(s)
		})
	}
	all.Wait()
}

// errNotWanted says that a session is not any more what it was chosen for.
var errNotWanted = errors.New("another process has been here")

// one resumes a session and reports what it came to. Whatever another process
// has, or has dealt with since, is left to it.
func (b *batch) one(chosen checkpoint.Summary) {
	began, id := time.Now(), chosen.SessionID
	spent := false
	flags := b.opts.settings // of its own: it takes down warnings
	r := &reopening{app: b.app, cmd: b.cmd, store: b.store, flags: &flags, given: b.given, approve: b.opts.approve}
	r.admit = func(s *session.State) error {
		status, reason := checkpoint.Unowned(s)
		if !s.Updated.Equal(chosen.UpdatedAt) || !b.wants(status, reason, s.Main().Turn.RetryAt, time.Now()) {
			return errNotWanted
		}
		spent = b.exhausted(s.Attempts)
		return nil
	}
	got, err := r.open(id)
	var inUse *checkpoint.InUseError
	var gone *checkpoint.NotFoundError
	switch {
	case errors.Is(err, errNotWanted), errors.As(err, &inUse), errors.As(err, &gone):
		return
	case err != nil:
		b.failed(id, err)
		return
	case spent:
		b.giveUp(id, got, began)
		return
	}
	t := &turn{app: b.app, store: b.store, journal: got.journal, provider: got.provider, display: b.opts.display, began: began, result: newResult()}
	t.result.Warnings = append(t.result.Warnings, got.warnings...)
	t.name = id
	end, err := t.play("")
	if t.result.Session == "" {
		b.failed(id, err)
		return
	}
	t.explain(end, err)
	b.report(t.result)
}

// failed reports a session that could not be begun.
func (b *batch) failed(id string, err error) {
	b.app.say("%s: %v", id, oneLine(err.Error(), 2000))
	for _, line := range hints(err) {
		b.app.say("%s: %s", id, line)
	}
	res := errorResult(err)
	res.Session = id
	code, _, _ := classify(err)
	b.tell(res, code)
}

// giveUp marks a session as failed that was begun too often.
func (b *batch) giveUp(id string, got *taken, began time.Time) {
	defer got.journal.Close()
	end := session.TurnEnd{Status: session.Failed, Reason: session.ReasonAttempts, Error: &session.Failure{
		Kind:    string(session.ReasonAttempts),
		Message: "begun " + plural(int64(got.journal.State().Attempts-1), "time") + " without a new step; `kagent resume " + id + "` tries it once more",
	}}
	if err := got.journal.Mark(end); err != nil {
		b.failed(id, err)
		return
	}
	s := got.journal.State()
	res := newResult()
	res.fill(s, endOf(s), b.store)
	res.DurationMs = time.Since(began).Milliseconds()
	b.app.say("%s: %s", id, end.Error.Message)
	b.report(res)
}

func (b *batch) report(res result) { b.tell(res, res.code()) }

// tell writes the one line of a session.
func (b *batch) tell(res result, code int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.codes = append(b.codes, code)
	if b.app.format != "text" {
		b.app.out.json(res.as(b.app.format))
		return
	}
	b.app.out.text(res.Session + " " + standing(res.Status, res.Reason))
}
