package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"kagent/pkg/message"
	"kagent/pkg/tool"
)

// clock is the smallest tool: a description, what kind of effect it has, and
// what it does.
type clock struct{ now string }

func (clock) Spec() message.ToolSpec {
	return message.ToolSpec{Name: "clock", Description: "The time.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (clock) Traits() tool.Traits { return tool.Traits{Class: tool.Read} }

func (c clock) Run(context.Context, tool.Call) tool.Result { return tool.Success("it is " + c.now) }

// A set checks names and schemas once, and the arguments of each call.
func ExampleNewSet() {
	set, err := tool.NewSet(clock{"十点"})
	if err != nil {
		log.Fatal(err)
	}
	t, _ := set.Lookup("clock")
	result := t.Run(context.Background(), tool.Call{})
	fmt.Println(set.Names(), result.Outcome, result.Text)

	_, err = tool.NewSet(clock{}, clock{})
	fmt.Println(err)
	// Output:
	// [clock] ok it is 十点
	// two tools are named "clock"
}
