//go:build bench

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// What a step costs must not depend on how many came before it, where requests
// have a budget. Costs are those of as many steps around the ones that are
// compared, in one run; the least of several runs counts, because whatever
// disturbs them only adds.
const (
	longBudget = 30_000 // characters
	longTurn   = 20     // steps, where there are many turns
	longSteps  = 2600
	longAround = 120
	longRatio  = 1.3
	longRuns   = 5

	// Of a very long one also the memory that is held is compared.
	veryLong      = 10_000
	veryLongRatio = 1.2
	veryLongHeap  = 1.2
	veryLongRuns  = 3
	veryLongSpans = 3
)

func TestStepsOfALongSessionCostTheSame(t *testing.T) {
	for _, kind := range []struct {
		name      string
		turn      int
		summaries bool
	}{{"one turn, with summaries", longSteps, true}, {"many turns, without", longTurn, false}} {
		t.Run(kind.name, func(t *testing.T) {
			least := map[int]time.Duration{}
			for range longRuns {
				l := &longRun{T: t, steps: longSteps, perTurn: kind.turn, summaries: kind.summaries}
				l.play(memoryDir(t))
				for _, n := range []int{100, 250, 1000, 2500} {
					cost := l.around(n)
					if old, ok := least[n]; !ok || cost < old {
						least[n] = cost
					}
				}
			}
			for _, c := range [][2]int{{100, 1000}, {250, 2500}} {
				ratio := float64(least[c[1]]) / float64(least[c[0]])
				t.Logf("a step at %d takes %v, at %d %v: ratio %.2f, at most %.1f", c[0], least[c[0]]/longAround, c[1], least[c[1]]/longAround, ratio, longRatio)
				if ratio > longRatio {
					t.Errorf("step %d takes %.2f times step %d", c[1], ratio, c[0])
				}
			}
		})
	}
}

// Ten thousand steps in one session: the last ones cost what the first ones did,
// and no memory is gathered on the way.
func TestTenThousandStepsOfALongSession(t *testing.T) {
	for _, kind := range []struct {
		name      string
		turn      int
		summaries bool
	}{{"one turn, with summaries", veryLong + longAround, true}, {"many turns, without", longTurn, false}} {
		t.Run(kind.name, func(t *testing.T) {
			var early, late, few, many []float64
			for range veryLongRuns {
				l := &longRun{T: t, steps: veryLong + longAround, perTurn: kind.turn, summaries: kind.summaries, at: make([]time.Duration, 0, veryLong+2*longAround), weigh: []int{veryLong / 10, veryLong}}
				l.play(memoryDir(t))
				for n := range veryLongSpans { // whatever disturbs one of them
					early = append(early, l.around(100+n*longAround).Seconds())
					late = append(late, l.around(veryLong-n*longAround).Seconds())
				}
				few, many = append(few, float64(l.held[0])), append(many, float64(l.held[1]))
			}
			ratio, heap := slices.Min(late)/slices.Min(early), slices.Min(many)/slices.Min(few)
			t.Logf("step %d takes %.2f times step 100, at most %.1f; %.0f KiB are held there, %.0f KiB at step %d: ratio %.2f, at most %.1f",
				veryLong, ratio, veryLongRatio, slices.Min(many)/1024, slices.Min(few)/1024, veryLong/10, heap, veryLongHeap)
			if ratio > veryLongRatio || heap > veryLongHeap {
				t.Errorf("step %d takes %.2f times step 100 and %.2f times the memory", veryLong, ratio, heap)
			}
		})
	}
}

// longRun is a session of very many steps on a real store; the model costs
// next to nothing.
type longRun struct {
	*testing.T
	steps     int
	perTurn   int
	summaries bool
	at        []time.Duration // used when each step was asked for
	largest   int             // request, in characters
	weigh     []int           // steps at which memory is weighed
	held      []uint64        // bytes held at these, once the rest is collected
}

func (l *longRun) around(n int) time.Duration {
	return l.at[n+longAround/2] - l.at[n-longAround/2]
}

func (l *longRun) play(dir string) {
	must := func(err error) {
		if err != nil {
			l.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(dir, "a.go"), []byte(strings.Repeat("\tif err != nil { // 读取文件\n", 40)), 0o600))
	ws, err := tool.NewWorkspace(dir, filepath.Join(dir, "sessions"))
	must(err)
	tools, err := tool.NewSet(tool.ReadFile(ws, nil))
	must(err)
	s := session.Settings{Agent: "react", Model: "m", System: "be good", Workdir: dir, Tools: tools.Names(), OnUnknown: "tell", ContextChars: longBudget}
	j, err := checkpoint.NewStore(filepath.Join(dir, "sessions"), checkpoint.Options{}).Create("s", session.Created{Task: "read all", Settings: s})
	must(err)
	defer j.Close()
	key := 0
	r := agent.Runner{Journal: j, Provider: l, Tools: tools, Strategy: agent.React, NewKey: func() string { key++; return fmt.Sprint(key) }}
	for prompt := ""; len(l.at) < l.steps; prompt = "go on" {
		end, err := r.Run(context.Background(), prompt)
		must(err)
		if end.Status != session.Completed {
			l.Fatalf("step %d: %+v", len(l.at), end)
		}
	}
	if l.largest > longBudget {
		l.Errorf("a request has %d characters, the budget is %d", l.largest, longBudget)
	}
	info, err := os.Stat(filepath.Join(dir, "sessions", "s.json"))
	must(err)
	if n := len(j.State().Main().Entries); info.Size() > 10*longBudget || n > 500 {
		l.Errorf("after %d steps %d entries are held, the checkpoint has %d bytes", len(l.at), n, info.Size())
	}
}

// Stream is the model: a call in each step, an answer at the end of the turn.
func (l *longRun) Stream(_ context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
	if strings.HasPrefix(req.Label.Scope, "summarise-") {
		text := "what was read so far"
		if !l.summaries {
			text = ""
		}
		return provider.Reply{Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd}, nil
	}
	if slices.Contains(l.weigh, len(l.at)) {
		l.held = append(l.held, heapHeld())
	}
	l.at = append(l.at, cpu())
	l.largest = max(l.largest, session.View{System: req.System, Messages: req.Messages}.Chars())
	if len(l.at)%l.perTurn == 0 {
		return provider.Reply{Parts: []message.Part{message.Text("done")}, Stop: message.StopEnd}, nil
	}
	call := message.ToolCall{ID: fmt.Sprint("c", len(l.at)), Name: "read_file", Arguments: `{"path":"a.go"}`}
	return provider.Reply{Parts: []message.Part{message.Text("I look."), message.Call(call)}, Stop: message.StopCalls}, nil
}

func heapHeld() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
