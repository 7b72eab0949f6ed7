package cmd

import (
	"context"
	"os"
)

// interruptible is for what the system may wait for without end, like the other
// end of a named pipe: a signal ends the wait. What was begun is left behind, and
// ends with the process.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// writePipe writes a text for whoever opens the other end of a named pipe.
func writePipe(ctx context.Context, path string, text []byte) error {
	_, err := interruptible(ctx, func() (struct{}, error) { return struct{}{}, os.WriteFile(path, text, 0) })
	return err
}
