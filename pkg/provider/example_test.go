package provider_test

import (
	"context"
	"fmt"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// parrot is a provider: one method that sends a request, tells of the text as
// it comes, and returns the whole reply. Calls of tools are parts of it.
type parrot struct{ name string }

func (p parrot) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	if err := context.Cause(ctx); err != nil {
		return provider.Reply{}, err
	}
	said := req.Conversation()
	text := p.name + " heard: " + said[len(said)-1].Text()
	emit(provider.Event{Text: text})
	return provider.Reply{
		Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd, Model: p.name,
		Usage: message.Usage{Input: 2, Output: 3, Total: 5},
	}, nil
}

// ask has a provider answer "hello".
func ask(p provider.Provider) (provider.Reply, error) {
	req := provider.Request{Messages: []message.Message{{Role: message.User, Parts: []message.Part{message.Text("hello")}}}}
	return p.Stream(context.Background(), req, func(e provider.Event) {
		if e.Retry != nil {
			fmt.Println("failed:", e.Retry.Err.Kind)
		}
	})
}

func ExampleProvider() {
	reply, err := ask(parrot{"Polly"})
	fmt.Println(message.Message{Parts: reply.Parts}.Text(), reply.Usage.Total, err)
	// Output: Polly heard: hello 5 <nil>
}

// down fails as long as its line is down. What a failure is said to be decides
// whether it is tried again.
type down struct {
	provider.Provider
	times int
}

func (d *down) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	if d.times--; d.times >= 0 {
		return provider.Reply{}, &provider.Error{Kind: provider.Overloaded, Message: "busy", RetryAfter: time.Millisecond}
	}
	return d.Provider.Stream(ctx, req, emit)
}

func ExampleRetry() {
	p := provider.Retry(&down{parrot{"Polly"}, 1}, provider.RetryOptions{Retries: 2, MaxWait: time.Second})
	reply, err := ask(p)
	fmt.Println(reply.Model, err)
	// Output:
	// failed: overloaded
	// Polly <nil>
}

func ExampleFallback() {
	p := provider.Fallback(
		provider.Link{Name: "first", Provider: &down{parrot{"Polly"}, 1}},
		provider.Link{Name: "second", Provider: parrot{"Coco"}},
	)
	reply, err := ask(p)
	fmt.Println(reply.Model, reply.Asked, err)
	// Output:
	// failed: overloaded
	// Coco second <nil>
}

// What follows from each kind of failure stands in one table.
func ExampleKind_Means() {
	m := provider.RateLimit.Means()
	fmt.Println(m.Retry, m.Status, m.Exit)
	// Output: true interrupted 75
}
