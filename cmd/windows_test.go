package cmd

import (
	"testing"

	"kagent/pkg/provider/catalogue"
)

// A request has to fit into every model of a chain that may answer it.
func TestTheWindowOfAChainIsThatOfItsSmallestModel(t *testing.T) {
	c, err := catalogue.New("models.yaml", []byte("models:\n  openai/big: {window: 200000}\n  openai/small: {window: 8000}\n  openai/odd: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]int{
		"openai/big": 200000, "openai/big,openai/small": 8000, "openai/small, openai/odd": 8000, "openai/odd": 0, "script:x": 0, "demo": 0, "": 0,
	} {
		if got := windows(c)(model); got != want {
			t.Errorf("%q: %d, want %d", model, got, want)
		}
	}
}
