package demo_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/demo"
)

func TestItListsThenReadsInOneBatchThenAnswers(t *testing.T) {
	s := &session{world: project()}
	answer := s.ask(t, "What is this?")
	want := []string{"list_files .", "read_file README.md", "read_file go.mod", "read_file main.go"}
	if !slices.Equal(s.calls, want) || !slices.Equal(s.batches, []int{1, 3}) {
		t.Errorf("called %q in batches of %v", s.calls, s.batches)
	}
	contains(t, answer, "offline demo, not a language model", "You asked: What is this?",
		"6 files and 2 directories, and 2 other entries: .git/, cmd/, .env, go.mod, go.sum, logo.png, main.go, README.md, latest, pipe.",
		"- README.md: 2 headings: Tidepool, Install.",
		"- go.mod: it names the project example.org/tidepool.",
		"- main.go: it begins with “// Command tidepool predicts tides.”.",
		"The project calls itself Tidepool.")
}

func TestAFollowUpLooksAgain(t *testing.T) {
	s := &session{world: project()}
	s.ask(t, "first question")
	first := slices.Clone(s.calls)
	s.calls = nil
	s.files["README.md"] = "# Renamed\n"
	answer := s.ask(t, "second question")
	if !slices.Equal(s.calls, first) {
		t.Errorf("called %q", s.calls)
	}
	contains(t, answer, "You asked: second question", "The project calls itself Renamed.")
	if strings.Contains(answer, "first question") || strings.Contains(answer, "Tidepool") {
		t.Errorf("the first turn is back:\n%s", answer)
	}
	ids := map[string]bool{}
	for _, m := range s.msgs {
		for _, c := range m.Calls() {
			if ids[c.ID] {
				t.Errorf("id %s twice", c.ID)
			}
			ids[c.ID] = true
		}
	}
}

func TestTheQuestionComesBackIntact(t *testing.T) {
	for _, question := range []string{
		"这个项目是做什么的？请总结一下。",
		"¿Qué es esto? 👩‍👩‍👧 🏳️‍🌈",
		"two\nlines, <tags> and \"quotes\" {{last_user}} %d",
		"שלום, ما هذا؟",
	} {
		for _, w := range []world{project(), {}} {
			contains(t, (&session{world: w}).ask(t, question), "You asked: "+question)
		}
	}
}

func TestALongQuestionIsCutBetweenCharacters(t *testing.T) {
	answer := (&session{world: project()}).ask(t, strings.Repeat("長い", 5000))
	contains(t, answer, strings.Repeat("長い", 300)+"…")
	if len(answer) > 4000 || !utf8.ValidString(answer) || strings.Contains(answer, "\uFFFD") {
		t.Errorf("%d bytes: %.200q", len(answer), answer)
	}
}

func TestAFailedListingIsTold(t *testing.T) {
	w := project()
	w.fails = map[string]string{"list_files": "denied by\npolicy"}
	s := &session{world: w}
	contains(t, s.ask(t, "hi"), "Listing the directory failed: denied by policy")
	if !slices.Equal(s.calls, []string{"list_files ."}) {
		t.Errorf("called %q", s.calls)
	}
}

func TestAFailedReadIsToldBesideTheOthers(t *testing.T) {
	w := project()
	w.fails = map[string]string{"go.mod": "go.mod does not exist"}
	answer := (&session{world: w}).ask(t, "hi")
	contains(t, answer, "Reading go.mod failed: go.mod does not exist", "- README.md: 2 headings", "- main.go: it begins")
}

func TestItUsesOnlyWhatIsOffered(t *testing.T) {
	for _, c := range []struct {
		tools []string
		calls []string
		want  string
	}{
		{nil, nil, "No tool to list files was offered. Your message: 1 line with 2 words. It begins with “hello there”."},
		{[]string{"read_file", "shell"}, nil, "No tool to list files was offered."},
		{[]string{"list_files"}, []string{"list_files ."}, "No tool to read files was offered."},
	} {
		w := project()
		w.tools = c.tools
		s := &session{world: w}
		contains(t, s.ask(t, "hello there"), "offline demo", "You asked: hello there", c.want)
		if !slices.Equal(s.calls, c.calls) {
			t.Errorf("offered %q: called %q", c.tools, s.calls)
		}
	}
}

func TestAttachedInputIsAnsweredWithoutTools(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{"review this\n\n<stdin>\n\n+ a new line\n- 旧行\n</stdin>", "Attached from standard input: 3 lines with 6 words. It begins with “+ a new line”."},
		{"review this\n\n<stdin-2>\na </stdin> b\n</stdin-2>", "1 line with 3 words. It begins with “a </stdin> b”."},
		{"review this\n\n<stdin>\n</stdin>", "Attached from standard input: empty."},
		{"review this\n\n<stdin>\ncut off", "1 line with 2 words. It begins with “cut off”."},
		{
			"review this\n\n<stdin>\nx\n</stdin>\n\n<file path=\"a \\\"b\\\".txt\">\ny z\n</file>",
			"Attached from a \"b\".txt: 1 line with 2 words. It begins with “y z”.",
		},
	} {
		s := &session{world: project()}
		contains(t, s.ask(t, c.message), "You asked: review this\n", c.want)
		if len(s.calls) > 0 {
			t.Errorf("%q: called %q", c.message, s.calls)
		}
	}
}

func TestTextThatOnlySpeaksOfStdinIsAQuestion(t *testing.T) {
	s := &session{world: project()}
	contains(t, s.ask(t, "what does <stdin> mean?\nstdin"), "You asked: what does <stdin> mean?\nstdin")
	if len(s.calls) != 4 {
		t.Errorf("called %q", s.calls)
	}
}

// A resumed run asks again for any reply that it has not got: all replies must
// be those of the run that was not killed.
func TestEveryReplyIsAFunctionOfItsRequest(t *testing.T) {
	s := &session{world: project()}
	s.ask(t, "hi")
	whole := s.msgs
	replies := 0
	for i, m := range whole {
		if m.Role != message.Assistant {
			continue
		}
		s.msgs, s.replies = whole[:i], replies
		replies++
		for range 3 {
			reply, err := demo.New().Stream(t.Context(), s.request(), func(provider.Event) {})
			if err != nil || !reflect.DeepEqual(reply.Parts, m.Parts) {
				t.Errorf("message %d: got %+v, %v, want %+v", i, reply.Parts, err, m.Parts)
			}
			if u := reply.Usage; u.Input <= 0 || u.Output <= 0 || u.Total != u.Input+u.Output {
				t.Errorf("usage %+v", u)
			}
		}
	}
	if replies != 3 {
		t.Errorf("%d replies", replies)
	}
}

func TestTheAnswerComesInSeveralPieces(t *testing.T) {
	pieces := 0
	req := provider.Request{Messages: []message.Message{{Role: message.User, Parts: []message.Part{message.Text("hi")}}}}
	_, err := demo.New().Stream(t.Context(), req, func(provider.Event) { pieces++ })
	if err != nil || pieces < 3 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
}

func TestACancelledRequestReturnsItsCause(t *testing.T) {
	gone := errors.New("the user has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	pieces := 0
	stop := func(provider.Event) { pieces++; cancel(gone) }
	for range 2 { // in the middle, then before the beginning
		if _, err := demo.New().Stream(ctx, provider.Request{}, stop); err != gone || pieces != 1 {
			t.Errorf("%d pieces, %v", pieces, err)
		}
	}
}

func TestResultsWithoutIDsFindTheirCalls(t *testing.T) {
	s := &session{world: project()}
	s.ask(t, "hi")
	s.msgs = s.msgs[:len(s.msgs)-1]
	for _, m := range s.msgs {
		for _, p := range m.Parts {
			if p.Call != nil {
				p.Call.ID = ""
			}
			if p.Result != nil {
				p.Result.ID = ""
			}
		}
	}
	reply, err := demo.New().Stream(t.Context(), s.request(), func(provider.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, message.Message{Parts: reply.Parts}.Text(), "- README.md: 2 headings", "- go.mod: it names")
}

func TestACallWithoutItsResultIsTold(t *testing.T) {
	s := &session{world: project()}
	s.ask(t, "hi")
	s.msgs = s.msgs[:len(s.msgs)-2] // the answer and the last result
	reply, err := demo.New().Stream(t.Context(), s.request(), func(provider.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, message.Message{Parts: reply.Parts}.Text(), "Reading main.go brought no result.")
}
