package secret_test

import (
	"net/url"
	"slices"
	"testing"

	"kagent/pkg/secret"
)

func TestAnAddressHoldsItsPasswordAndItsKeys(t *testing.T) {
	for in, want := range map[string][]string{
		"https://h/v1?api-version=2026-01-01": nil,
		"https://u:p%40ss@h/":                 {"p@ss"},
		"https://token@h/":                    {"token"},
		"https://h/?API_Key=a%2Bb&x=1":        {"a+b"},
		"https://h/?sig=s&sig=t":              {"s", "t"},
		"https://u:@h/":                       {""}, // a user alone is refused, too
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := secret.InAddress(u); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestAHeaderHoldsWhatFollowsItsScheme(t *testing.T) {
	for in, want := range map[string][]string{
		"k":                  {"k"},
		"Bearer k":           {"Bearer k", "k"},
		"Basic dXNlcjprOmw=": {"Basic dXNlcjprOmw=", "dXNlcjprOmw=", "k:l"},
		"Basic ?":            {"Basic ?", "?"},
	} {
		if got := secret.InHeader(in); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestNamesOfVariablesAndBrokenKeys(t *testing.T) {
	for name, want := range map[string]bool{"OPENAI_API_KEY": true, "k2": true, "": false, "sk-x": false, "A B": false, "é": false, "A=b": false} {
		if secret.IsVariable(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	for key, want := range map[string]bool{"k": false, "k\n": false, "\r\nk ": false, "k\nl": true, "k\tl": true, "k\x7fl": true, "": false, "kéy": false} {
		if secret.IsBroken(key) != want {
			t.Errorf("%q: %v", key, !want)
		}
	}
}

func TestWhatStandsAroundAKeyIsSeen(t *testing.T) {
	for _, key := range []string{`"k"`, `'k'`, "`k`", "\"k\"\n", `""`, "Bearer k", "bearer  k", "Basic k", "Token k", "Authorization: Bearer k", `"Bearer k"`} {
		if secret.Around(key) == "" {
			t.Errorf("%q: nothing is seen", key)
		}
	}
	for _, key := range []string{"", "k", `"`, `"k`, `k'`, `k"l"m`, "Bearer", "Bearer ", "bearerk", "two words"} {
		if got := secret.Around(key); got != "" {
			t.Errorf("%q: %s", key, got)
		}
	}
}

func TestAProxysAddressHoldsItsPasswordAndWhatIsSentOfIt(t *testing.T) {
	for in, want := range map[string][]string{
		"":                             nil,
		"p:3128":                       nil,
		"http://p:3128":                nil,
		"::::":                         nil,
		"u:correcthorse@p:3128":        {"correcthorse", "correcthorse", "dTpjb3JyZWN0aG9yc2U"},
		" http://u:p%40ss@p:3128":      {"p@ss", "p%40ss", "dTpwQHNz"},
		"socks5://token@p":             {"token"},
		"https://u:@p:1/?key=whatever": {""},
	} {
		if got := secret.InProxy(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
