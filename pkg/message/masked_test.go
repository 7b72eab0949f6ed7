package message_test

import (
	"encoding/json"
	"testing"

	"kagent/pkg/message"
)

func TestVendorsDataAreMarkedAndKeptUnlessTheyHoldTheSecret(t *testing.T) {
	for _, c := range []struct {
		in    string
		holds bool
		want  string
	}{
		{`{"signature":"s=","n":1.50}`, false, `{"masked":true,"signature":"s=","n":1.50}`},
		{` {"signature":"s="}`, true, `{"masked":true}`},
		{`{ }`, false, `{"masked":true}`},
		{`["s="]`, false, `{"masked":true}`},
		{`{"masked":true,"signature":"s="}`, false, `{"masked":true,"signature":"s="}`},
	} {
		got := message.Masked(json.RawMessage(c.in), c.holds)
		if string(got) != c.want || !json.Valid(got) || !message.IsMasked(got) {
			t.Errorf("%s became %s, want %s", c.in, got, c.want)
		}
	}
	if message.IsMasked(nil) || message.IsMasked(json.RawMessage(`{"signature":"masked"}`)) {
		t.Error("what is sound counts as masked")
	}
}
