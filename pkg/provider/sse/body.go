package sse

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"time"

	"kagent/pkg/provider"
)

// errSilent is the cause with which a watch ends its request.
var errSilent = errors.New("silence")

// watch ends a request when its server is silent for too long. It is armed
// only while we wait for the server, never while the caller works.
type watch struct {
	client *Client
	caller context.Context
	ctx    context.Context // the request's
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func (c *Client) watch(caller context.Context) *watch {
	w := &watch{client: c, caller: caller, idle: c.Idle}
	if w.idle <= 0 {
		w.idle = 2 * time.Minute
	}
	w.ctx, w.cancel = context.WithCancelCause(caller)
	return w
}

func (w *watch) arm() {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.idle, func() { w.cancel(errSilent) })
		return
	}
	w.timer.Reset(w.idle)
}

func (w *watch) disarm() { w.timer.Stop() }

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}

// failure turns what went wrong with the request to host into the error that
// the caller gets.
func (w *watch) failure(host string, err error) error {
	if w.caller.Err() != nil {
		return context.Cause(w.caller)
	}
	if context.Cause(w.ctx) == errSilent {
		return w.client.Fail(provider.Timeout, 0, "%s sent nothing for %s", host, w.idle)
	}
	return w.client.transport(host, err)
}

// watched is a body whose reads are bounded in time and whose errors are final.
type watched struct {
	w    *watch
	host string
	body io.Reader
}

func (b *watched) Read(p []byte) (int, error) {
	b.w.arm()
	n, err := b.body.Read(p)
	b.w.disarm()
	if err != nil && err != io.EOF {
		err = b.w.failure(b.host, err)
	}
	return n, err
}

// unpack returns a reader of body, which is gunzipped if it begins like gzip,
// whatever the header says: no text begins so. An empty body is no error here.
func unpack(body *watched) (*bufio.Reader, error) {
	b := bufio.NewReader(body)
	if first, _ := b.Peek(1); len(first) == 0 || first[0] != 0x1f {
		return b, nil // the error, if any, comes again with the next read
	}
	if magic, _ := b.Peek(2); len(magic) < 2 || magic[1] != 0x8b {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, body.final(err)
	}
	return bufio.NewReader(&gunzip{body, z}), nil
}

type gunzip struct {
	body *watched
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && err != io.EOF {
		err = g.body.final(err)
	}
	return n, err
}

// final passes errors of the body on and turns the unpacker's own into ours.
func (b *watched) final(err error) error {
	var failed *provider.Error
	if errors.As(err, &failed) || b.w.caller.Err() != nil {
		return err
	}
	return b.w.failure(b.host, err)
}
