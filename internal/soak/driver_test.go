//go:build soak

package soak

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	turnSteps = 12
	calmTries = 60 // processes that a turn may take where nothing disturbs it
)

// driver keeps one session going, turn after turn, as a script would that looks
// at exit codes.
type driver struct {
	*world
	id, agent string
	random    *rand.Rand
	turns     int
	counted   int64
	size      int64
}

func (w *world) newDriver(i int) *driver {
	agents := []string{"react", "plan-solve", "fusion", "orchestrator"}
	return &driver{world: w, id: fmt.Sprintf("s%02d", i), agent: agents[i%len(agents)], random: rand.New(rand.NewPCG(w.seed, 100+uint64(i)))}
}

func (d *driver) label() string { return fmt.Sprintf("%s.%d", d.id, d.turns) }

func (d *driver) prompt() string { return fmt.Sprintf("work %s: %d steps", d.label(), turnSteps) }

func (d *driver) work() {
	for d.turns == 0 || d.disturbing() || d.steps.Load() < d.quota {
		if d.turns > 0 && d.steps.Load() > d.quota { // what is left of the time is spread
			d.pause(time.Duration(d.random.IntN(8000)) * time.Millisecond)
		}
		d.turns++
		if !d.turn() {
			return
		}
	}
}

// turn starts processes until the turn has its answer.
func (d *driver) turn() bool {
	calm := 0
	for calm < calmTries {
		d.slots <- struct{}{}
		done := d.try()
		<-d.slots
		d.measure()
		if done {
			return true
		}
		if !d.disturbing() {
			calm++
			time.Sleep(50 * time.Millisecond) // another process may have it
		}
	}
	d.problem("%s: turn %d does not end", d.id, d.turns)
	return false
}

// args is what goes on with the session: by its prompt, where the log does not
// hold that yet.
func (d *driver) args() []string {
	switch {
	case d.turns == 1:
		args := []string{
			"run", "-q", "-s", d.id, "-a", d.agent, "--if-exists", "resume", "--stdin", "none", "--allow", "execute,write", "--env", "EFFECTS",
			"--max-steps", "0", "--retries", "3", "--retry-max-wait", "60ms", "--idle-timeout", "2s",
			"-m", "openai-compatible/" + d.id, "--base-url", d.url, d.prompt(),
		}
		if d.id[2]%2 == 0 {
			args = slices.Insert(args, 1, "--context-chars", "20000")
		}
		return args
	case bytes.Contains(d.log(), []byte(`"text":"`+d.prompt()+`"`)):
		return []string{"resume", "-q", d.id}
	}
	return []string{"resume", "-q", d.id, d.prompt()}
}

func (d *driver) log() []byte {
	b, err := os.ReadFile(filepath.Join(d.store, d.id, "events.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		d.problem("%s: %v", d.id, err)
	}
	return b
}

// measure counts the steps that the log holds.
func (d *driver) measure() {
	b := d.log()
	d.size = int64(len(b))
	n := int64(bytes.Count(b, []byte(`"type":"step/end"`)))
	d.steps.Add(n - d.counted)
	d.counted = n
}

// try runs a process, or two, and reports whether the turn has its answer.
func (d *driver) try() bool {
	args := d.args()
	trouble := d.trouble(len(args) == 3)
	d.count(trouble)
	p := d.command(args...)
	if trouble == "full file" {
		p.limited(d.size + 16<<10 + d.random.Int64N(24<<10))
	}
	if err := p.Start(); err != nil {
		d.problem("%v", err)
		return false
	}
	if trouble == "two resumers" {
		other := d.command(args...)
		if err := other.Start(); err != nil {
			d.problem("%v", err)
		}
		defer func() { d.told(args, d.wait(other)) }()
	}
	d.disturb(p, trouble)
	return d.told(args, d.wait(p))
}

// told judges how a process ended.
func (d *driver) told(args []string, e ended) bool {
	switch e.code {
	case 0:
		if !strings.HasPrefix(e.out, "done "+d.label()) {
			d.problem("%s: turn %d: %q answers %q: %s", d.id, d.turns, args, e.out, e.said)
		}
		return true
	case 4, 9, 75, 130, -1: // in use, full disk, network, cancelled, a signal
	default:
		d.problem("%s: turn %d: %q exits %d: %s", d.id, d.turns, args, e.code, e.said)
	}
	if e.out != "" && e.signal == 0 { // what was printed before a kill was printed
		d.problem("%s: turn %d: %q exits %d with the answer %q", d.id, d.turns, args, e.code, e.out)
	}
	return false
}
