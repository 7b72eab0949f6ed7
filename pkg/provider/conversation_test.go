package provider

import (
	"testing"

	"kagent/pkg/message"
)

func TestWhatTheUserSaysInARowIsOneMessage(t *testing.T) {
	said := func(role message.Role, text string) message.Message {
		return message.Message{Role: role, Parts: []message.Part{message.Text(text)}}
	}
	req := Request{Messages: []message.Message{
		said(message.User, "a"), said(message.User, "b"), said(message.Assistant, "c"), said(message.Assistant, "d"), said(message.User, "e"),
	}, Note: "note"}
	for range 2 { // it is only read
		all := req.Conversation()
		if len(all) != 4 || len(all[0].Parts) != 2 || all[0].Text() != "ab" || all[1].Text() != "c" || all[3].Text() != "e\n\nnote" {
			t.Errorf("conversation %+v", all)
		}
	}
	if len(req.Messages) != 5 || len(req.Messages[0].Parts) != 1 {
		t.Errorf("the request was changed to %+v", req)
	}
}
