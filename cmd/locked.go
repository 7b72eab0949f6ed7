package cmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kagent/pkg/checkpoint"
)

// lockFlag is --if-locked: what to do where another process has the session.
type lockFlag struct{ text string }

func (l *lockFlag) addTo(f *pflag.FlagSet) {
	f.StringVar(&l.text, "if-locked", "fail", "a session that another process has: fail (4), wait, wait=5m, or skip (0)")
}

// lockPolicy is what the flag says.
type lockPolicy struct {
	skip bool
	wait bool
	most time.Duration // to wait, 0: for ever
}

func (l *lockFlag) policy() (lockPolicy, error) {
	mode, most, timed := strings.Cut(l.text, "=")
	p := lockPolicy{skip: mode == "skip", wait: mode == "wait"}
	if timed && p.wait {
		d, err := time.ParseDuration(most)
		if err != nil || d <= 0 {
			return p, usageErrorf("want for example wait=5m", "--if-locked %q: %q is no duration", l.text, most)
		}
		p.most = d
		return p, nil
	}
	return p, oneOf("if-locked", l.text, "fail", "wait", "skip")
}

// lockSkipped says that a session was left alone because it is in use.
type lockSkipped struct{ *checkpoint.InUseError }

func (e *lockSkipped) Unwrap() error { return e.InUseError }

// take opens a session as soon as nobody else has it, as far as the policy
// goes. Waiting is said once.
func (p lockPolicy) take(ctx context.Context, say func(string, ...any), open func() error) error {
	began, pause := time.Now(), 20*time.Millisecond
	for said := false; ; said = true {
		err := open()
		var held *checkpoint.InUseError
		switch {
		case !errors.As(err, &held):
			return err
		case p.skip:
			return &lockSkipped{held}
		case !p.wait, p.most > 0 && time.Since(began) >= p.most:
			return err
		}
		if !said {
			say("%v; waiting for it", held)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}
