package sse

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A server that wants a certificate of us says so after we think that all is
// well: its alert and our request cross each other. The request then fails
// because the connection is gone, and only the connection knows why.

// alertText begins what crypto/tls makes of an alert; its type is not exported.
const alertText = "remote error: tls: "

// way is the connection that a request went over.
type way struct{ conn net.Conn }

// tapped returns a context whose requests note their connection.
func (w *way) tapped(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { w.conn = info.Conn },
	})
}

// why returns the alert that ended the connection in the place of an error that
// says no more than that it has ended.
func (w *way) why(err error) error {
	if w.conn == nil || !cut(err) || strings.Contains(err.Error(), alertText) {
		return err
	}
	w.conn.SetReadDeadline(time.Unix(1, 0)) // it is closed; if not, don't wait
	if _, seen := w.conn.Read(make([]byte, 1)); seen != nil && strings.Contains(seen.Error(), alertText) {
		return seen
	}
	return err
}

// cut reports whether an error says that a connection is closed, here or there.
func cut(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
		strings.Contains(err.Error(), "http2: client conn") // of HTTP/2, which forgets why
}

// lastWords is how long a failed write waits for what the server said before it
// closed the connection.
const lastWords = 250 * time.Millisecond

// listening is a connection whose failed writes wait until its reader is
// through: who learns of the failure closes it, and the reason may not be read yet.
type listening struct {
	net.Conn
	through func()          // the reader is, or it is closed
	done    <-chan struct{} // then
}

func listen(conn net.Conn) net.Conn {
	done := make(chan struct{})
	return &listening{conn, sync.OnceFunc(func() { close(done) }), done}
}

func (l *listening) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if err != nil {
		l.through()
	}
	return n, err
}

func (l *listening) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if err != nil && cut(err) {
		select {
		case <-l.done:
		case <-time.After(lastWords):
		}
	}
	return n, err
}

func (l *listening) Close() error {
	l.through()
	return l.Conn.Close()
}
