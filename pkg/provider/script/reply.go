package script

import (
	"bytes"
	"math"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// reply is an entry of a script.
type reply struct {
	when       when
	verbatim   bool // no templates
	text       string
	reasoning  string
	calls      []call
	usage      *message.Usage // nil: estimated
	stop       message.StopReason
	delay      time.Duration
	pieces     int
	pieceDelay time.Duration
	fail       *provider.Error
}

// call is a tool call before its templates are filled in.
type call struct {
	name      string
	id        *string // nil: derived
	arguments string
	verbatim  bool    // the arguments are no JSON of ours
	result    *Result // nil: the tool runs
}

func newReply(n *yaml.Node) (reply, error) {
	r := reply{pieces: 1}
	given, err := mapping(n, fields{
		"when":      r.when.set,
		"verbatim":  flag(&r.verbatim),
		"text":      text(&r.text),
		"reasoning": text(&r.reasoning),
		"tool_calls": list(func(n *yaml.Node) error {
			c, err := newCall(n)
			r.calls = append(r.calls, c)
			return err
		}),
		"usage": func(n *yaml.Node) (err error) {
			r.usage, err = newUsage(n)
			return err
		},
		"stop":        oneOf(stops(), &r.stop),
		"delay":       duration(&r.delay),
		"pieces":      number(1, math.MaxInt32, &r.pieces),
		"piece_delay": duration(&r.pieceDelay),
		"error": func(n *yaml.Node) (err error) {
			r.fail, err = newError(n)
			return err
		},
	})
	if err != nil {
		return r, err
	}
	return r, r.check(n, given)
}

func stops() []message.StopReason {
	return []message.StopReason{message.StopEnd, message.StopCalls, message.StopLength, message.StopFilter, message.StopRefusal}
}

// Kinds are the failures that a script can play.
func Kinds() []provider.Kind {
	return []provider.Kind{
		provider.Auth, provider.Permission, provider.Quota, provider.RateLimit,
		provider.Overloaded, provider.ContextLength, provider.InvalidRequest, provider.NotFound,
		provider.ContentFilter, provider.TooLarge, provider.Server, provider.Network, provider.Timeout, provider.Cancelled,
	}
}

// check finds fields that are fine alone and make no sense together.
func (r *reply) check(n *yaml.Node, given map[string]bool) error {
	if r.fail != nil {
		for _, f := range []string{"tool_calls", "usage", "stop"} {
			if given[f] {
				return faultAt(n, "%s and error exclude each other", f)
			}
		}
		return nil
	}
	for _, f := range []string{"text", "reasoning", "tool_calls", "stop"} {
		if given[f] {
			return nil
		}
	}
	return faultAt(n, `says nothing; write text: "" for an empty reply`)
}

func newCall(n *yaml.Node) (call, error) {
	c := call{arguments: "{}"}
	_, err := mapping(n, fields{
		"name":      text(&c.name),
		"id":        pointer(&c.id, text),
		"arguments": c.setArguments,
		"result": func(n *yaml.Node) (err error) {
			c.result, err = newResult(n)
			return err
		},
	})
	switch {
	case err != nil:
	case c.name == "":
		err = faultAt(n, "a call needs a name")
	case c.id != nil && c.result != nil:
		err = faultAt(n, "id and result exclude each other")
	}
	return c, err
}

func (c *call) setArguments(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.MappingNode:
		var b bytes.Buffer
		err := encode(&b, n)
		c.arguments = b.String()
		return err
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		c.arguments, c.verbatim = n.Value, true
		return nil
	}
	return faultAt(n, "must be an object, or a string that is sent as it is")
}

func newUsage(n *yaml.Node) (*message.Usage, error) {
	var u message.Usage
	count := func(to *int64) setter { return number(0, int64(1)<<50, to) }
	_, err := mapping(n, fields{
		"input":      count(&u.Input),
		"output":     count(&u.Output),
		"cacheRead":  count(&u.CacheRead),
		"cacheWrite": count(&u.CacheWrite),
		"reasoning":  count(&u.Reasoning),
	})
	switch {
	case err != nil:
		return nil, err
	case u.CacheRead+u.CacheWrite > u.Input:
		return nil, faultAt(n, "cacheRead and cacheWrite are part of input, which is less")
	case u.Reasoning > u.Output:
		return nil, faultAt(n, "reasoning is part of output, which is less")
	}
	u.Total = u.Input + u.Output
	return &u, nil
}

func newError(n *yaml.Node) (*provider.Error, error) {
	e := &provider.Error{Provider: "script", Message: "scripted error"}
	given, err := mapping(n, fields{
		"kind":        oneOf(Kinds(), &e.Kind),
		"message":     text(&e.Message),
		"status":      number(100, 599, &e.Status),
		"retry_after": duration(&e.RetryAfter),
		"from":        text(&e.Provider),
	})
	if err == nil && !given["kind"] {
		err = faultAt(n, "an error needs a kind")
	}
	e.Message = message.Clean(strings.Join(strings.Fields(e.Message), " ")) // one line
	return e, err
}
