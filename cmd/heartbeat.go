package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// heartbeatTime is how long a monitor has to answer: no run waits longer for it.
const (
	heartbeatTime = 10 * time.Second
	lastBeatTime  = 2 * time.Second // the same where a signal has come
)

// heartbeat tells a monitor of cron jobs that a command began and how it ended,
// in the way that most of them take it: the address itself means success, /start
// and /fail behind its path the others. A monitor that does not answer changes
// nothing but a line on stderr, and its address, which is a secret, is not said.
type heartbeat struct {
	base *url.URL
	say  func(string, ...any)
	stop context.CancelFunc // of the start
	all  sync.WaitGroup

	failed error // of the start: told at the end
}

// newHeartbeat returns nil where there is no monitor.
func newHeartbeat(address string, say func(string, ...any)) (*heartbeat, error) {
	if address == "" {
		return nil, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usageErrorf("want for example https://hc-ping.com/UUID", "--heartbeat-url is no http address")
	}
	return &heartbeat{base: u, say: say}, nil
}

// start does not wait for the answer.
func (h *heartbeat) start() {
	if h != nil {
		ctx, stop := context.WithTimeout(context.Background(), heartbeatTime)
		h.stop = stop
		h.all.Go(func() { h.failed = h.tell(ctx, "/start", "") })
	}
}

// end tells the exit code, within limit.
func (h *heartbeat) end(code int, limit time.Duration) {
	if h == nil {
		return
	}
	late := time.AfterFunc(limit, h.stop)
	h.all.Wait() // a start that comes last would look like a run
	late.Stop()
	h.stop()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	suffix, body := "", ""
	if code != exitOK {
		suffix, body = "/fail", fmt.Sprintf("exit code %d", code)
	}
	for _, err := range []error{h.failed, h.tell(ctx, suffix, body)} {
		if err != nil {
			h.say("warning: the heartbeat was not sent: %v", err)
		}
	}
}

func (h *heartbeat) tell(ctx context.Context, suffix, body string) error {
	u := *h.base
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+suffix, ""
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(body))
	if err != nil {
		return errors.New("bad address")
	}
	req.Header.Set("User-Agent", "kagent/"+version)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address
		}
		return err
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode >= 300 {
		return fmt.Errorf("HTTP status %d", res.StatusCode)
	}
	return nil
}

// beating runs a command between two heartbeats.
func (a *app) beating(address string, run func() error) error {
	h, err := newHeartbeat(address, a.say)
	if err != nil {
		return err
	}
	h.start()
	err = run()
	code := a.code
	if err != nil {
		code, _, _ = classify(err)
	}
	limit := heartbeatTime
	if a.signals.ended() {
		limit = lastBeatTime
	}
	h.end(code, limit)
	return err
}
