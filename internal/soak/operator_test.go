//go:build soak

package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

func (w *world) dice(of uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, of)) }

// pause reports whether there is still trouble to make after it.
func (w *world) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return w.disturbing()
	case <-w.over:
		return false
	}
}

// operate is somebody who looks, says something and stops a run, while all that
// happens.
func (w *world) operate() {
	random := w.dice(3)
	for n := 1; w.pause(time.Duration(random.IntN(1500)) * time.Millisecond); n++ {
		id := fmt.Sprintf("s%02d", random.IntN(sessions))
		switch random.IntN(4) {
		case 0:
			w.send(id, fmt.Sprintf("note %d for %s", n, id))
		case 1:
			w.count("cancel")
			w.expect(w.run("cancel", id), "cancel "+id, 0, 3, 4, 9)
		case 2:
			w.look()
		case 3:
			w.count("verify")
			w.expect(w.run("verify"), "verify", 0)
		}
	}
}

// resumers is a cron line beside all that.
func (w *world) resumers() {
	random := w.dice(4)
	for w.pause(time.Duration(random.IntN(5000)) * time.Millisecond) {
		w.resumeAll(random)
	}
}

func (w *world) expect(e ended, what string, codes ...int) bool {
	for _, code := range codes {
		if e.code == code {
			return true
		}
	}
	w.problem("%s: exit %s: %s%s", what, e.how(), e.out, e.said)
	return false
}

// resumeAll is a second resumer of everything, which is killed now and then.
func (w *world) resumeAll(random *rand.Rand) {
	w.count("resume --interrupted")
	p := w.command("resume", "-q", "--interrupted", "--jobs", "3")
	if err := p.Start(); err != nil {
		w.problem("%v", err)
		return
	}
	if random.IntN(3) == 0 {
		w.count("kill -9 of resume --interrupted")
		time.AfterFunc(time.Duration(random.IntN(2000))*time.Millisecond, func() { p.Process.Signal(syscall.SIGKILL) })
	}
	w.expect(w.wait(p), "resume --interrupted", 0, 9, 75, 130, -1)
}

// send says something that has to be heard exactly once, if it was taken.
func (w *world) send(id, text string) {
	w.count("send")
	if e := w.run("send", id, text); w.expect(e, "send "+id, 0, 3, 9) && e.code == 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notes[text] = id
	}
}

func (w *world) look() {
	w.count("list")
	e := w.run("list", "-o", "json")
	var all []struct{ SessionID, Status string }
	if err := json.Unmarshal([]byte(e.out), &all); err != nil || e.code != 0 {
		w.problem("list: exit %s, %v: %s", e.how(), err, e.said)
	}
	for _, s := range all {
		if s.Status == "damaged" {
			w.problem("list: %s is damaged: %s", s.SessionID, e.said)
		}
	}
}
