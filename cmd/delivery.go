package cmd

import (
	"errors"
	"syscall"

	"kagent/pkg/checkpoint"
)

// The contract has --if-exists skip print nothing for a completed session. That
// holds where its answer was printed once. Where stdout failed it would be lost
// for a cron job, whose next start has nothing to do: so that is written down,
// and the next start delivers it.

// settle writes down whether the answer has reached stdout.
func (a *app) settle(store *checkpoint.Store, id string) {
	if a.ephemeral {
		return
	}
	a.out.printer.drain(0)
	lost := a.out.failure()
	var err error
	if lost == nil {
		err = store.Delivered(id)
	} else {
		err = store.Undelivered(id)
		a.sayUnless(errors.Is(lost, syscall.EPIPE))("kagent: the answer did not reach stdout; the session has it: `%s` prints it", resumeLine(store, id))
	}
	if err != nil {
		a.say("warning: %v", err)
	}
}

// overdue delivers what an earlier start could not print, and reports whether
// there was something.
func (s *start) overdue(res result) bool {
	release, ok := s.store.TakeUndelivered(res.Session)
	if !ok {
		return false
	}
	defer release()
	s.app.sayUnless(s.opts.display.quiet)("completed already, but its answer had not reached stdout")
	s.app.answer(res, &s.opts.display)
	return true
}
