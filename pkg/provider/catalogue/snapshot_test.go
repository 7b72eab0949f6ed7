package catalogue

import (
	"reflect"
	"testing"
)

func TestANameWithoutADateMeansTheOneSnapshotOfIt(t *testing.T) {
	c, err := New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	dated, _ := c.Model("anthropic/claude-sonnet-4-5-20250929")
	m, ok := c.Model("anthropic/claude-sonnet-4-5")
	if !ok || m.Name != "anthropic/claude-sonnet-4-5" || m.Price == nil || !reflect.DeepEqual(m.Price, dated.Price) || m.Window != dated.Window {
		t.Errorf("it has %+v of %+v", m, dated)
	}
	if got := c.Resolve("claude-sonnet-4-5"); !reflect.DeepEqual(got, []string{"anthropic/claude-sonnet-4-5"}) {
		t.Errorf("the bare name is %v", got)
	}
	for _, name := range []string{"anthropic/claude-sonnet", "anthropic/claude-sonnet-4-5-2025", "anthropic/claude-opus-5-20260101", "anthropic/claude-", "anthropic/\"", "openai/claude-sonnet-4-5"} {
		if m, ok := c.Model(name); ok {
			t.Errorf("%s is %+v", name, m)
		}
	}
	for text, want := range map[string]bool{"20250929": true, "2025-09-29": true, "2025-0929": false, "12345678": false, "202509291": false, "": false, "2025-09-29x": false} {
		if isDate(text) != want {
			t.Errorf("%q as a date: %v", text, !want)
		}
	}
}

func TestWhatIsSaidOfADatedModelIsSaidOfItsNameWithoutADate(t *testing.T) {
	const name, dated = "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5-20250929"
	c := built(t, "models: {"+dated+": {price: {input: 7}}, x/y-20250101: {window: 5}}")
	if m, _ := c.Model(name); m.Name != name || m.Price.Input != 7 || m.Price.Output == 0 {
		t.Errorf("%+v %+v", m, m.Price)
	}
	if m, ok := c.Model("x/y"); !ok || m.Name != "x/y" || m.Window != 5 {
		t.Errorf("%+v", m)
	}
	c = built(t, "models: {"+dated+": {window: 9, price: {input: 7}}, "+name+": {price: {input: 3}}}")
	if m, _ := c.Model(name); m.Price.Input != 3 || m.Window != 9 {
		t.Errorf("%+v %+v", m, m.Price)
	}
	if m, _ := c.Model(dated); m.Price.Input != 7 {
		t.Errorf("%+v", m)
	}
	c = built(t, "models: {anthropic/claude-sonnet-4-5-20251111: {price: {input: 1, output: 1}}}")
	if m, ok := c.Model(name); ok {
		t.Errorf("of two it is %+v", m)
	}
}
