package tool

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Generators of schemas write such patterns for addresses and decimals.
func TestAPatternThatCantBeCheckedIsLeftToTheModel(t *testing.T) {
	s, err := NewSchema(json.RawMessage(`{"type":"object","properties":{"mail":{"type":"string","pattern":"^(?!\\.)(?!.*\\.\\.)a+$"},
		"pattern":{"type":"string","pattern":"^b$"},"n":{"anyOf":[{"type":"number","minimum":9007199254740993},{"type":"string","pattern":"^(?!^[-+.]*$)[+-]?0*\\d*$"}]},
		"k":{"const":{"pattern":"(?=c)"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/properties/mail/pattern", "/properties/n/anyOf/1/pattern"}; !reflect.DeepEqual(s.Unchecked, want) {
		t.Errorf("unchecked are %v, want %v", s.Unchecked, want)
	}
	for value, fits := range map[string]bool{
		`{"mail":"..","n":"1.5","k":{"pattern":"(?=c)"}}`: true, `{"mail":1}`: false, `{"pattern":"c"}`: false, `{"pattern":"b"}`: true,
		`{"n":9007199254740992}`: false, `{"k":{}}`: false,
	} {
		if got := s.Problem(json.RawMessage(value)); (got == "") != fits {
			t.Errorf("%s: %q", value, got)
		}
	}
	for _, broken := range []string{`{"pattern":"("}`, `{"pattern":"[b"}`, `{"patternProperties":{"(?=a)":{}}}`} {
		if _, err := NewSchema(json.RawMessage(broken)); err == nil {
			t.Errorf("%s is taken", broken)
		}
	}
}
