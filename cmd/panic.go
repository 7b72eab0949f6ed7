package cmd

import (
	"fmt"
	"runtime"
	"strings"
)

// panicked is a fault of kagent's own. Left alone it would end the process with
// the exit code of a wrong call, and pages of text.
type panicked struct {
	value any
	where string // function and line, "" if not known
}

func (p *panicked) Error() string {
	return fmt.Sprintf("internal error: %v%s; this is a fault of kagent: please report it. A session is as its checkpoint says, and can be resumed", p.value, p.where)
}

// guarded makes an error of a panic of f.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, culprit()}
		}
	}()
	return f()
}

// culprit names the place in kagent that panics. It is for deferred functions.
func culprit() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(1, pc)])
	inside := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			inside = true
		case inside && strings.HasPrefix(f.Function, "kagent/"):
			return fmt.Sprintf(" (in %s, line %d)", f.Function, f.Line)
		}
		if !more {
			return ""
		}
	}
}
