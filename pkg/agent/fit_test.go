package agent_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// chatty brings long outputs.
func chatty(n int) *fake {
	f := read("look")
	f.do = func(_ context.Context, c tool.Call) tool.Result {
		return tool.Success(arg(c.Args) + ": " + strings.Repeat("输出 ", n/3))
	}
	return f
}

// working is a model that makes so many steps in each turn, one call each, and
// then answers; summaries are its own affair.
func working(steps int, summary func(req provider.Request) (provider.Reply, error)) model {
	return func(_ context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
		if err := strict(req); err != nil {
			return provider.Reply{}, &provider.Error{Kind: provider.InvalidRequest, Message: err.Error()}
		}
		if summarises(req) {
			return summary(req)
		}
		if n := req.Label.Ordinal; n%(steps+1) != 0 {
			c := message.ToolCall{ID: "c", Name: "look", Arguments: fmt.Sprintf(`{"v":"step %d"}`, n)}
			return provider.Reply{Parts: []message.Part{message.Text(fmt.Sprint("look ", n)), message.Call(c)}, Stop: message.StopCalls}, nil
		}
		return says("the answer"), nil
	}
}

func summarises(req provider.Request) bool { return strings.Contains(req.Label.Scope, "summarise-") }

func soFar(provider.Request) (provider.Reply, error) { return says("what was done so far"), nil }

func noAnswer(provider.Request) (provider.Reply, error) { return says(""), nil }

// strict is what a strict service refuses.
func strict(req provider.Request) error {
	if len(req.Messages) == 0 || req.Messages[0].Role != message.User {
		return errors.New("the first message is not the user's")
	}
	var open []string
	seen := map[string]bool{}
	for i, m := range req.Messages {
		if m.Role == message.Tool {
			if len(open) == 0 || open[0] != m.Parts[0].Result.ID {
				return fmt.Errorf("message %d is the result of no call", i)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d: %q has no result", i, open)
		}
		for _, c := range m.Calls() {
			if seen[c.ID] {
				return fmt.Errorf("message %d repeats %q", i, c.ID)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%q has no result", open)
	}
	return nil
}

// chars is the size of a request as a budget counts it.
func chars(req provider.Request) int {
	n := session.View{System: req.System, Messages: req.Messages}.Chars() + len([]rune(req.Note))
	for _, t := range req.Tools {
		n += len(t.Name) + len([]rune(t.Description)) + len(t.Schema)
	}
	return n
}

// within gives the session a budget, and no limit of steps.
func (r *rig) within(budget int) {
	r.set(func(s *session.Settings) { s.ContextChars, s.Limits.MaxSteps = budget, 0 })
}

// count returns how many events of a kind the log holds.
func (l *ledger) count(kind session.Type) (n int) {
	for _, e := range l.events {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// requests are those for the work itself, and those for summaries.
func (r *rig) requests() (work, summaries []provider.Request) {
	for _, req := range r.asked {
		if summarises(req) {
			summaries = append(summaries, req)
		} else {
			work = append(work, req)
		}
	}
	return work, summaries
}

// F131, F134: in the middle of a long turn what was done is summarised again and
// again; the task, the system prompt and the newest results stay as they are.
func TestALongTurnStaysWithinItsBudget(t *testing.T) {
	r := newRig(t, working(200, soFar), chatty(600))
	r.within(6000)
	r.run("", session.Completed, "")
	r.answer("the answer")
	work, summaries := r.requests()
	check(t, "requests", len(work), 201)
	if n := len(summaries); n < 5 || n > 40 {
		t.Errorf("%d summaries", n)
	}
	for i, req := range work {
		if n := chars(req); n > 6000 {
			t.Fatalf("request %d has %d characters", i+1, n)
		}
		newest := req.Messages[len(req.Messages)-1]
		if i > 0 && !strings.HasPrefix(newest.Parts[0].Result.Text, fmt.Sprintf("step %d: 输出", i)) {
			t.Fatalf("request %d ends with %.60q", i+1, newest.Parts[0].Result.Text)
		}
		if req.Messages[0].Text() != "the task" || !strings.HasPrefix(req.System, "be good") {
			t.Fatalf("request %d begins with %q", i+1, req.Messages[0].Text())
		}
	}
	if last := work[200]; !strings.Contains(last.System, "\n\n[Summary of the earlier conversation]\nwhat was done so far") {
		t.Errorf("the last system prompt is %q", last.System)
	}
	for _, req := range summaries {
		if n := len([]rune(req.Messages[0].Text())); n > 6000 {
			t.Errorf("a summary is asked for of %d characters", n)
		}
	}
	if !strings.Contains(summaries[1].Messages[0].Text(), "# Summary so far\n\nwhat was done so far") {
		t.Errorf("the second is not told of the first: %.200q", summaries[1].Messages[0].Text())
	}
}

// F126: a summary that says nothing is a failure. It is not tried again in the
// turn: things are left out instead.
func TestAFailedSummaryFallsBackToTrimming(t *testing.T) {
	for name, summary := range map[string]func(provider.Request) (provider.Reply, error){
		"empty":   noAnswer,
		"thought": func(provider.Request) (provider.Reply, error) { return says("<think>hm</think>\n"), nil },
		"longer":  func(req provider.Request) (provider.Reply, error) { return says(strings.Repeat("long ", 10000)), nil },
		"down": func(provider.Request) (provider.Reply, error) {
			return provider.Reply{}, &provider.Error{Kind: provider.Network}
		},
		"refused": func(provider.Request) (provider.Reply, error) { return provider.Reply{Stop: message.StopRefusal}, nil },
		"calls": func(provider.Request) (provider.Reply, error) {
			return provider.Reply{Parts: []message.Part{message.Call(message.ToolCall{Name: "look", Arguments: `{"v":"x"}`})}, Stop: message.StopCalls}, nil
		},
	} {
		r := newRig(t, working(20, summary), chatty(600))
		r.within(6000)
		r.run("", session.Completed, "")
		r.answer("the answer")
		work, summaries := r.requests()
		check(t, name+": failures", r.log.count("context/compact-failed"), 1)
		check(t, name+": summaries", r.log.count("context/compacted"), 0)
		if len(summaries) > 6 || r.log.count("context/trimmed") == 0 {
			t.Errorf("%s: %d requests for summaries, trimmed %d times", name, len(summaries), r.log.count("context/trimmed"))
		}
		for _, req := range work {
			if n := chars(req); n > 6000 {
				t.Errorf("%s: %d characters", name, n)
			}
		}
		if r.log.state.Scope("summarise-1") != nil {
			t.Errorf("%s: the child is still there", name)
		}
	}
}

// At the first request of a turn the turns before it are summarised, once.
func TestEarlierTurnsAreSummarisedBeforeTheNext(t *testing.T) {
	r := newRig(t, working(3, soFar), chatty(900))
	r.within(4000)
	r.run("", session.Completed, "")
	check(t, "summaries in the first turn", r.log.count("context/compacted"), 0)
	second := strings.Repeat("second ", 200)
	r.run(second, session.Completed, "")
	work, _ := r.requests()
	first := work[4]
	check(t, "messages of the second turn's first request", len(first.Messages), 1)
	check(t, "the prompt", first.Messages[0].Text(), second)
	if !strings.Contains(first.System, "[What the user had asked for first]\nthe task") {
		t.Errorf("its system prompt: %q", first.System)
	}
	d := compacted(r.log)
	if len(d) == 0 || d[0].Turns != 1 || !d[0].Auto || d[0].From != "summarise-1" {
		t.Errorf("compacted %+v", d)
	}
	check(t, "replies in all", r.log.state.Iterations, 4+4+len(d))
}

func compacted(l *ledger) (out []*session.ContextCompacted) {
	for _, e := range l.events {
		if d, ok := e.Data.(*session.ContextCompacted); ok {
			out = append(out, d)
		}
	}
	return out
}

// F124: where the fixed part alone is too long no summary can help.
func TestNoSummaryIsAskedForWhereNoneHelps(t *testing.T) {
	r := newRig(t, working(0, soFar), read("look"))
	r.set(func(s *session.Settings) { s.System = strings.Repeat("be good ", 1000) })
	r.within(2000)
	r.run("", session.Completed, "")
	r.run("hi", session.Completed, "")
	_, summaries := r.requests()
	check(t, "requests for summaries", len(summaries), 0)

	small := limited(2000, working(0, soFar))
	r = newRig(t, small, read("look"))
	r.Window = func(string) int { return 1000 }
	r.set(func(s *session.Settings) { s.System = strings.Repeat("be good ", 1000) })
	end := r.run("", session.Paused, session.ReasonContextLength)
	for _, want := range []string{"1000 tokens", "8000 the system prompt", "of its 80", "too long for this model", "too long for p/m, and"} {
		if !strings.Contains(end.End.Error.Message, want) {
			t.Errorf("%q is not in %q", want, end.End.Error.Message)
		}
	}
	check(t, "requests", len(r.asked), 1)
}

// F124: also where every step brings much that could be summarised.
func TestNoSummaryIsAskedForThatStillLeavesTooMuch(t *testing.T) {
	r := newRig(t, working(12, soFar), chatty(900))
	r.set(func(s *session.Settings) { s.System = strings.Repeat("be good ", 1000) })
	r.within(2000)
	for _, task := range []string{"", "go on"} {
		r.run(task, session.Completed, "")
	}
	_, summaries := r.requests()
	check(t, "requests for summaries", len(summaries), 0)
}

// A budget so small that 30 % of it are nothing must not have summaries of
// nothing asked for, again and again.
func TestASummaryOfNothingIsNeverAskedFor(t *testing.T) {
	for budget := 1; budget < 12; budget++ {
		r := newRig(t, working(2, soFar), read("look"))
		r.within(budget)
		r.run("", session.Completed, "")
		_, summaries := r.requests()
		for _, ask := range summaries {
			contains(t, "what is to be summarised", ask.Messages[0].Text(), "What was said and done since")
		}
		if len(summaries) > 1 {
			t.Errorf("budget %d: %d requests for summaries", budget, len(summaries))
		}
	}
}

// limited is a service that takes requests of so many characters.
func limited(most int, next model) model {
	return func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if chars(req) > most {
			return provider.Reply{}, &provider.Error{Kind: provider.ContextLength, Status: 400, Message: "too long for this model"}
		}
		return next(ctx, req, emit)
	}
}

// F127, F129: what a service finds too long is cut, and asked once more; the
// summary's own question is made smaller too.
func TestARequestThatIsTooLongIsCutAndAskedOnceMore(t *testing.T) {
	for name, summary := range map[string]func(provider.Request) (provider.Reply, error){"summary": soFar, "none": noAnswer} {
		r := newRig(t, limited(5000, working(40, summary)), chatty(600))
		r.set(func(s *session.Settings) { s.Limits.MaxSteps = 0 })
		r.run("", session.Completed, "")
		r.answer("the answer")
		refused, inARow := 0, 0
		for _, req := range r.asked {
			inARow++
			if chars(req) <= 5000 {
				inARow = 0
			}
			refused += inARow
			if inARow > 1 && !summarises(req) {
				t.Fatalf("%s: refused twice in a row", name)
			}
		}
		if refused == 0 || refused > 20 {
			t.Errorf("%s: %d requests of %d were refused", name, refused, len(r.asked))
		}
	}
}

// F127: a session that is three times as long as its model takes, whoever made
// it, stays usable, with a summary or without one.
func TestASessionOfThreeWindowsStaysUsable(t *testing.T) {
	for name, summary := range map[string]func(provider.Request) (provider.Reply, error){"summary": soFar, "none": noAnswer} {
		r := newRig(t, working(9, summary), chatty(1500))
		r.run("", session.Completed, "")
		r.run("second", session.Completed, "")
		r.asked = nil
		r.Provider = model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			r.asked = append(r.asked, req)
			return limited(9000, working(0, summary))(ctx, req, emit)
		})
		r.run("third", session.Completed, "")
		r.answer("the answer")
		if n := len(r.asked); n > 8 {
			t.Errorf("%s: %d requests", name, n)
		}
		end, err := r.Compact(t.Context(), "")
		if name == "summary" && (err != nil || end.Status != session.Completed || len(r.log.state.Main().Entries) != 0) {
			t.Errorf("%s: %+v, %v", name, end, err)
		}
		if name == "none" && (err != nil || end.Status != session.Failed) {
			t.Errorf("%s: %+v, %v", name, end, err)
		}
		r.run("fourth", session.Completed, "")
	}
}

// F127: a question for a summary that was too long is asked at half its length,
// no less: what is cut off is not remembered.
func TestAQuestionThatWasTooLongIsHalved(t *testing.T) {
	r := newRig(t, working(20, soFar), chatty(1500))
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 0 })
	r.run("", session.Completed, "")
	r.asked = nil
	r.Provider = model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		r.asked = append(r.asked, req)
		return limited(8000, working(0, soFar))(ctx, req, emit)
	})
	r.run("second", session.Completed, "")
	_, summaries := r.requests()
	if len(summaries) < 2 {
		t.Fatalf("%d questions", len(summaries))
	}
	for i, req := range summaries[1:] {
		if before, now := chars(summaries[i]), chars(req); now < before*2/5 || now > before*2/3 {
			t.Errorf("a question of %d characters after one of %d", now, before)
		}
	}
}

// A turn of steps that are small, but many, and no summary to be had.
func TestStepsLeaveWhereNothingElseHelps(t *testing.T) {
	r := newRig(t, limited(3000, working(100, noAnswer)), chatty(9))
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 0 })
	r.run("", session.Completed, "")
	work, _ := r.requests()
	if last := work[len(work)-1]; !strings.Contains(last.System, " earlier steps of the work left out]") || last.Messages[0].Text() != "the task" {
		t.Errorf("the last request: %q, %q", last.System, last.Messages[0].Text())
	}
	check(t, "results of the last step", r.log.state.Main().Steps, 101)
}

func TestARequestThatStaysTooLongPausesTheTurn(t *testing.T) {
	r := newRig(t, limited(1500, working(3, noAnswer)), chatty(3000))
	r.run("", session.Paused, session.ReasonContextLength)
	check(t, "requests", len(r.asked), 2)
	r.asked = nil
	r.run("", session.Paused, session.ReasonContextLength)
	check(t, "requests of a resume", len(r.asked), 1)
	r.Provider = working(3, noAnswer) // another model
	r.run("", session.Completed, "")
	r.answer("the answer")
}

// F130: the window was full, and the service did not say so.
func TestAReplyWithoutRoomIsARequestThatWasTooLong(t *testing.T) {
	next := working(12, noAnswer)
	r := newRig(t, model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if chars(req) > 5000 {
			return provider.Reply{Stop: message.StopLength, Usage: message.Usage{Input: 1000, Total: 1000}}, nil
		}
		req.Label.Ordinal = 1
		for _, m := range req.Messages {
			if m.Role == message.Tool {
				req.Label.Ordinal++
			}
		}
		return next(ctx, req, emit)
	}), chatty(600))
	r.run("", session.Completed, "")
	r.answer("the answer")
	if r.log.count("context/trimmed") == 0 {
		t.Error("nothing was left out")
	}
	r = newRig(t, `replies: [{text: "", stop: length}]`)
	end := r.run("", session.Paused, session.ReasonContextLength)
	check(t, "requests", len(r.asked), 1)
	if end.End.Error == nil || !strings.Contains(end.End.Error.Message, "too long") {
		t.Errorf("ended with %+v", end.End.Error)
	}
}

// Only what filled the window is blamed on it: not a reply of which nobody knows
// how long it was, nor one that was not to be longer.
func TestAnEmptyReplyIsNotBlamedOnTheContextWithoutReason(t *testing.T) {
	for name, c := range map[string]struct {
		usage message.Usage
		limit int
		want  session.Reason
	}{
		"no usage":          {message.Usage{}, 0, session.ReasonMaxOutput},
		"as long as it may": {message.Usage{Input: 9, Output: 8, Total: 17}, 8, session.ReasonMaxOutput},
		"shorter":           {message.Usage{Input: 9, Output: 1, Total: 10}, 8, session.ReasonContextLength},
		"no limit":          {message.Usage{Input: 9, Output: 1, Total: 10}, 0, session.ReasonContextLength},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, model(func(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
				return provider.Reply{Stop: message.StopLength, Usage: c.usage}, nil
			}), chatty(9))
			settings := r.log.State().Settings
			settings.Sampling.MaxOutput = c.limit
			r.log = newLedger(settings)
			r.Journal = r.log
			r.run("", session.Paused, c.want)
		})
	}
}

// The budget follows from the window and from what was counted so far.
func TestTheBudgetFollowsTheWindow(t *testing.T) {
	counting := func(next model) model {
		return func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			reply, err := next(ctx, req, emit)
			reply.Usage.Input = int64(chars(req) / 2) // Chinese
			if int64(2000) < reply.Usage.Input {
				return reply, &provider.Error{Kind: provider.ContextLength}
			}
			return reply, err
		}
	}
	r := newRig(t, counting(working(30, soFar)), chatty(600))
	r.Window = func(model string) int { return map[string]int{"p/m": 2000}[model] }
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 0 })
	r.run("", session.Completed, "")
	check(t, "requests that were too long", r.log.count("request/retried"), 0)
	if len(compacted(r.log)) == 0 {
		t.Error("nothing was summarised")
	}
}

// A setting that is given anew applies from then on.
func TestABudgetGivenLaterApplies(t *testing.T) {
	r := newRig(t, working(3, noAnswer), chatty(900))
	r.run("", session.Completed, "")
	r.run("second", session.Completed, "")
	check(t, "what is sent whole", len(r.asked[7].Messages), 15)
	r.within(2500)
	r.set(func(s *session.Settings) { s.System = "be brief" })
	r.run("third", session.Completed, "")
	work, _ := r.requests()
	for _, req := range work[8:] {
		if n := chars(req); n > 2500 || !strings.HasPrefix(req.System, "be brief") {
			t.Errorf("%d characters, %q", n, req.System)
		}
	}
}

// What the model would be sent after a kill at any event, and a resume, is what
// it would have been sent; no reply is paid for twice.
func TestATurnThatIsSummarisedIsCutAnywhereAndEndsTheSameWay(t *testing.T) {
	for name, play := range map[string]model{
		"summaries": working(12, soFar),
		"none":      working(12, noAnswer),
		"too long":  limited(4000, working(12, soFar)),
	} {
		whole := newRig(t, play, chatty(600))
		whole.within(map[string]int{"summaries": 3000, "none": 3000}[name])
		whole.run("", session.Completed, "")
		for k := 3; k < len(whole.log.events); k++ {
			r := newRig(t, play, chatty(600))
			r.log = whole.log
			r.reopen(k)
			r.run("", session.Completed, "")
			a, b := whole.log.state, r.log.state
			if got, want := texts(b.View("")), texts(a.View("")); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, cut at %d: sent\n%q\nwant\n%q", name, k, got, want)
			}
			check(t, fmt.Sprintf("%s, cut at %d: replies", name, k), b.Iterations, a.Iterations)
			check(t, "steps", b.Main().Steps, a.Main().Steps)
			if t.Failed() {
				return
			}
		}
	}
}

// texts are those of a view, without ids and times.
func texts(v session.View) []string {
	out := []string{v.System}
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			text := p.Text
			if p.Call != nil {
				text = p.Call.Arguments
			}
			if p.Result != nil {
				text = p.Result.Text
			}
			out = append(out, string(m.Role)+": "+text)
		}
	}
	return out
}

// The plays that are cut are about what they are named after.
func TestTheBoundedPlaysAreCutDown(t *testing.T) {
	for _, p := range boundedRepertoire() {
		whole, n := played(t, p), 0
		err := whole.store.Events(t.Context(), "s", false, func(e session.Event) {
			if e.Type == "context/compacted" || e.Type == "context/trimmed" {
				n++
			}
		})
		if err != nil || n == 0 {
			t.Errorf("%s: %d times, %v", p.name, n, err)
		}
	}
}
