package provider

import (
	"context"
	"errors"
	"time"
)

// Link is a model of a chain. Name is what replies are told to come from.
type Link struct {
	Name     string
	Provider Provider
}

// Fallback returns a provider that asks the next model of a chain when one is
// out of reach: overloaded, rate limited, failing, silent or not there. Other
// errors (a wrong key, a request that is refused) are the user's to mend and
// end the chain. Retries belong inside: a link is left for good, for this
// request, once it has given up.
//
// Before another model is asked a Retry event is emitted: what the one before
// had streamed is void, no reply is made of two. When nobody has answered, the
// error tells of all that were asked.
func Fallback(links ...Link) Provider {
	if len(links) == 1 {
		return links[0].Provider
	}
	return fallback(links)
}

type fallback []Link

func (f fallback) Stream(ctx context.Context, req Request, emit func(Event)) (Reply, error) {
	var all failures
	req.Label.Attempt = max(req.Label.Attempt, 1)
	count := func(e Event) { // a retry inside of a link numbers attempts too
		if e.Retry != nil {
			req.Label.Attempt = e.Retry.Attempt + 1
		}
		emit(e)
	}
	for i, link := range f {
		reply, err := link.Provider.Stream(ctx, req, func(e Event) {
			e.Asked = link.Name
			count(e)
		})
		if err == nil {
			reply.Asked = link.Name
			return reply, nil
		}
		if ctx.Err() != nil {
			return Reply{}, context.Cause(ctx)
		}
		var failed *Error
		if !errors.As(err, &failed) {
			return Reply{}, err
		}
		all = append(all, failure{failed, time.Now()})
		if !failed.Kind.Means().Elsewhere || i == len(f)-1 {
			break
		}
		count(Event{Retry: &Retrying{Attempt: req.Label.Attempt, Err: failed, Next: f[i+1].Name}})
	}
	return Reply{}, all.together()
}
