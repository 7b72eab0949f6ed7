package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider/script"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// A session is created and run until its turn is closed. The model is a script
// here; any [provider.Provider] will do.
func ExampleRunner_Run() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	model, err := script.Parse("hello.yaml", []byte(`replies: [{text: "你好, {{last_user}}!"}]`))
	if err != nil {
		log.Fatal(err)
	}

	store := checkpoint.NewStore(dir, checkpoint.Options{Owner: checkpoint.ThisProcess("example")})
	j, err := store.Create("greeting", session.Created{Task: "world", Settings: session.Settings{
		Agent: "react", Model: "hello", System: agent.DefaultSystem(),
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	r := agent.Runner{Journal: j, Provider: model}
	end, err := r.Run(context.Background(), "")
	fmt.Println(end.Status, err, j.State().Main().Answer())

	end, err = r.Run(context.Background(), "moon") // another turn
	fmt.Println(end.Status, err, j.State().Main().Answer())
	// Output:
	// completed <nil> 你好, world!
	// completed <nil> 你好, moon!
}

// To run is to resume: whoever opens the session later, in another process or
// after a crash, goes on with the same call of Run.
func ExampleRunner_Run_resume() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	model, err := script.Parse("flaky.yaml", []byte(`replies:
- {when: {attempt: 1}, error: {kind: network, message: the line is down}}
- {text: here I am again}`))
	if err != nil {
		log.Fatal(err)
	}
	store := checkpoint.NewStore(dir, checkpoint.Options{Owner: checkpoint.ThisProcess("example")})
	j, err := store.Create("nightly", session.Created{Task: "hello", Settings: session.Settings{Agent: "react"}})
	if err != nil {
		log.Fatal(err)
	}
	end, err := (&agent.Runner{Journal: j, Provider: model}).Run(context.Background(), "")
	fmt.Println(end.Status, end.Reason, err)
	j.Close()

	j, _, err = store.Open("nightly")
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	end, err = (&agent.Runner{Journal: j, Provider: model}).Run(context.Background(), "")
	fmt.Println(end.Status, err, j.State().Main().Answer())
	// Output:
	// interrupted network <nil>
	// completed <nil> here I am again
}

// stock is a tool: what it does, how it is described to a model, and what a
// call in doubt means after a crash.
type stock map[string]int

func (stock) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "stock", Description: "How many of an article there are.",
		Schema: json.RawMessage(`{"type":"object","properties":{"article":{"type":"string"}},"required":["article"]}`),
	}
}

func (stock) Traits() tool.Traits { return tool.Traits{Class: tool.Read} }

func (s stock) Run(_ context.Context, c tool.Call) tool.Result {
	var args struct{ Article string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tool.Fail(err.Error())
	}
	return tool.Success(fmt.Sprint(s[args.Article], " of ", args.Article))
}

// A tool of one's own goes into the set, and its name into the settings: what
// a session may use is part of the session.
func ExampleRunner_tool() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tools, err := tool.NewSet(stock{"茶": 3})
	if err != nil {
		log.Fatal(err)
	}
	model, err := script.Parse("shop.yaml", []byte(`replies:
- {when: {tool_results: 0}, tool_calls: [{name: stock, arguments: {article: 茶}}]}
- {text: "We have {{tool_result}}."}`))
	if err != nil {
		log.Fatal(err)
	}
	store := checkpoint.NewStore(dir, checkpoint.Options{Owner: checkpoint.ThisProcess("example")})
	j, err := store.Create("shop", session.Created{Task: "tea?", Settings: session.Settings{Agent: "react", Tools: tools.Names()}})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	r := agent.Runner{Journal: j, Provider: model, Tools: tools}
	end, err := r.Run(context.Background(), "")
	fmt.Println(end.Status, err, j.State().Main().Answer())
	// Output: completed <nil> We have 3 of 茶.
}

// Names of agents are checked before anything is written.
func ExampleByName() {
	for _, name := range agent.Names() {
		fmt.Printf("%s: %s\n", name, agent.Describe(name))
	}
	fmt.Println(agent.ByName("reactor") == nil)
	// Output:
	// react: asks the model, runs the tools it calls, until it answers
	// plan-solve: plans first, then works with the plan in view; plans anew where steps fail
	// fusion: looks how hard the task is; plans what is complex, and has the answer judged
	// orchestrator: splits the task into parts that run side by side, and joins their results
	// true
}
