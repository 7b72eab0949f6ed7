package agent

import (
	"cmp"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// Streamed text is written down at most this often, so that a cut answer can
// be shown without a write for every word.
const (
	chunkEvery = 250 * time.Millisecond
	chunkBytes = 4 << 10
)

// Delta is a piece of a reply as it is streamed. What an attempt streams is
// void once a higher one speaks of the same step: no reply is made of two.
type Delta struct {
	Step    int    // number of the reply in its scope, from 1
	Attempt int    // at this reply, from 1: retries, other models of a chain and resumes count
	Model   string // that speaks
	Text    string
}

// sink takes what a provider streams and writes it down in pieces, from the
// provider's goroutine or, when no more text comes, from a timer's. Both take
// the floor first.
type sink struct {
	run    *run
	giveUp func() // ends the stream: a reply that can't be stored is of no use
	model  string // that speaks

	mask  *tool.StreamMasker // of this attempt; made when text comes
	text  strings.Builder
	last  time.Time   // when text was written down
	timer *time.Timer // runs while text waits
	done  bool
	err   error // of the journal

	held session.Spending // for this call, while it runs
	lost message.Usage    // what this attempt took though it brings no reply
	over *Finish          // a limit that leaves no room for another attempt
}

func (k *sink) take(e provider.Event) {
	k.run.floor.Lock()
	defer k.run.floor.Unlock()
	switch {
	case k.err != nil:
	case e.Retry != nil:
		k.retried(e.Retry)
	case e.Lost != nil:
		k.model = cmp.Or(e.Asked, k.model)
		k.lost = k.lost.Add(*e.Lost)
	case e.Text != "":
		k.model = cmp.Or(e.Asked, k.model)
		k.say(k.masked(e.Text))
		wait := chunkEvery - k.run.now().Sub(k.last)
		if k.text.Len() >= chunkBytes || wait <= 0 {
			k.flush()
		} else if k.timer == nil {
			k.timer = time.AfterFunc(wait, k.late)
		}
	}
}

// retried notes that an attempt failed and another follows, unless what it has
// cost leaves no room for one.
func (k *sink) retried(e *provider.Retrying) {
	d := &session.RequestRetried{Attempt: e.Attempt, DelayMs: e.Delay.Milliseconds(), Error: k.run.failure(e.Err), Next: e.Next, Billed: k.billed()}
	if k.over = k.run.overspent(d.Billed, k.held); k.over != nil {
		d.DelayMs, d.Next, d.GivenUp = 0, "", true
		k.flush()
		k.giveUp()
	} else {
		k.text.Reset()
		k.mask = nil
	}
	k.fail(k.run.retry(d))
}

// billed is what the attempt that just failed has cost.
func (k *sink) billed() (b session.Billed) {
	if k.lost != (message.Usage{}) {
		used := k.lost
		b.Model, b.Usage = k.model, &used
		if k.run.Price != nil {
			b.CostUSD = k.run.Price(k.model, used)
		}
	}
	k.lost = message.Usage{}
	return b
}

// retry notes, durably, that an attempt is void, before the next one is heard:
// who reads the events as they become durable knows by then whose text to drop.
func (r *run) retry(d *session.RequestRetried) error {
	if err := r.append(d); err != nil {
		return err
	}
	return r.Journal.Sync()
}

// masked hides secrets, also those that come in several pieces: it may hold
// some bytes back.
func (k *sink) masked(text string) string {
	if k.run.Mask == nil {
		return text
	}
	if k.mask == nil {
		k.mask = k.run.Mask.Stream()
	}
	return k.mask.Write(text)
}

// say shows a piece of text, as it is after masking.
func (k *sink) say(text string) {
	if text != "" && k.run.Delta != nil {
		sc := k.run.state()
		k.run.Delta(k.run.name, Delta{Step: sc.Steps + 1, Attempt: sc.Tries, Model: k.model, Text: text})
	}
	k.text.WriteString(text)
}

// late writes down text after which no more has come.
func (k *sink) late() {
	k.run.floor.Lock()
	defer k.run.floor.Unlock()
	if k.timer = nil; !k.done {
		k.flush()
	}
}

// flush writes the text so far. It is not synced: what a reply says in the end
// is synced, this is only shown when none comes.
func (k *sink) flush() {
	if k.text.Len() == 0 || k.err != nil {
		return
	}
	chunk := &session.AssistantChunk{Text: k.text.String()}
	k.text.Reset()
	k.last = k.run.now()
	k.fail(k.run.append(chunk))
}

func (k *sink) fail(err error) {
	if err != nil {
		k.err = err
		k.giveUp()
	}
}

// close ends the sink, with the floor; what waits is written down only if no reply has come.
func (k *sink) close(cut bool) {
	k.done = true
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.mask != nil {
		rest := k.mask.Flush() // what it held back
		if cut {
			rest = k.run.Mask.MaskCutKey(rest)
		}
		k.say(rest)
	}
	if cut {
		k.flush()
	}
}
