package cmd

import (
	"errors"
	"strings"
	"testing"

	"kagent/pkg/session"
)

func TestAFaultOfKagentIsOneLineAndNoWrongCall(t *testing.T) {
	var none map[string]int
	err := guarded(func() error {
		none["a"] = 1
		return nil
	})
	if err == nil {
		t.Fatal("the panic was lost")
	}
	if code, status, reason := classify(err); code != exitFailed || status != session.Failed || reason != session.ReasonInternal {
		t.Errorf("exit %d, %s: %s", code, status, reason)
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "nil map") || !strings.Contains(text, "kagent/cmd.TestAFault") {
		t.Errorf("it says %q", text)
	}
	other := errors.New("other")
	if err := guarded(func() error { return other }); err != other {
		t.Errorf("an error became %v", err)
	}
}
