package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kagent/pkg/provider"
)

// MaxStream is the size in bytes of the largest answer that is read, the data
// of all its events taken together.
const MaxStream = 512 << 20

// ErrStream is the error of a larger one.
var ErrStream = fmt.Errorf("the answer is longer than %d MiB", MaxStream>>20)

// Values calls take for each value of a stream of JSON, with the type of its
// event, until take says that it is done or fails. If the stream ended before
// that, ended is true and err says how: io.EOF, *provider.Error or ctx's cause.
// Otherwise err is what take returned, as a *provider.Error.
//
// Two things are forgiven: servers that forget the blank line between events
// send several values in one, and the last value of a stream that was cut may
// be half a one.
func (c *Client) Values(a *Answer, take func(event string, data []byte) (done bool, err error)) (ended bool, err error) {
	events := NewReader(a.Body)
	size := 0
	var bad error // of a value that was no JSON
	for {
		e, err := events.Next()
		switch {
		case err == ErrTooLong:
			return false, c.Odd(err)
		case err != nil:
			return true, err
		case bad != nil:
			return false, c.Odd(bad)
		}
		if size += len(e.Data); size > MaxStream {
			return false, c.Odd(ErrStream)
		}
		done, err := split(e, take)
		switch {
		case errors.As(err, new(*json.SyntaxError)):
			bad = err
		case err != nil:
			return false, c.Odd(err)
		case done:
			return false, nil
		}
	}
}

// split calls take for an event's value, or for each of its lines if all of
// them together are no value.
func split(e Event, take func(string, []byte) (bool, error)) (done bool, err error) {
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 {
		return false, nil
	}
	done, err = take(e.Type, data)
	if !errors.As(err, new(*json.SyntaxError)) || !bytes.ContainsRune(data, '\n') {
		return done, err
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if done, err = take("", line); err != nil || done {
			return done, err
		}
	}
	return false, nil
}

// Odd passes a *provider.Error and turns others, which encoding/json or Reader
// made, into one.
func (c *Client) Odd(err error) error {
	var failed *provider.Error
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, ErrTooLong), errors.Is(err, ErrTooLarge), errors.Is(err, ErrStream):
		return c.Fail(provider.TooLarge, 0, "%v", err)
	}
	return c.Fail(provider.Server, 0, "the answer is not of the expected form: %s", plainly(err))
}
