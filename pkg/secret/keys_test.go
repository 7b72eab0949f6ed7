package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/secret"
)

func stars(name string) string { return "[masked " + name + "]" }

func keys(values ...string) *secret.Keys {
	k := &secret.Keys{}
	for _, v := range values {
		k.Add("KEY", v)
	}
	return k
}

func TestAKeyIsFoundHoweverItIsSpelt(t *testing.T) {
	const key = `hun+ter/2&"<k>=é'x\y`
	quoted, _ := json.Marshal(key)
	twice, _ := json.Marshal(string(quoted))
	every := ""
	for _, r := range key {
		every += `\u` + strings.ToUpper("00"+string("0123456789abcdef"[r>>4])+string("0123456789abcdef"[r&15]))
	}
	for name, spelt := range map[string]string{
		"plain":              key,
		"JSON":               string(quoted),
		"JSON in JSON":       string(twice),
		"JSON, all of it":    every,
		"JSON of PHP":        strings.ReplaceAll(string(quoted), "/", `\/`),
		"JSON of .NET":       strings.ReplaceAll(string(quoted), "+", `\u002B`),
		"HTML":               html.EscapeString(key),
		"HTML by number":     strings.ReplaceAll(html.EscapeString(key), "+", "&#43;"),
		"HTML by hex number": strings.ReplaceAll(html.EscapeString(key), "/", "&#x2F;"),
		"HTML by name":       strings.ReplaceAll(html.EscapeString(key), "=", "&equals;"),
		"query":              url.QueryEscape(key),
		"query, small":       strings.ToLower(url.QueryEscape(key)),
		"path":               url.PathEscape(key),
		"HTML of a query":    html.EscapeString(url.QueryEscape(key)),
		"query of HTML":      url.QueryEscape(html.EscapeString(key)),
		"basic":              "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+key)),
		"basic, for URLs":    base64.RawURLEncoding.EncodeToString([]byte("u:" + key + " and more")),
		"half of it escaped": `\u0068un%2Bter/2&amp;\"&lt;k>=é'x\\y`,
	} {
		if !keys(key).In("before " + spelt + " after") {
			t.Errorf("%s: %s is not found", name, spelt)
		}
	}
}

func TestWhatIsNoKeyStays(t *testing.T) {
	k := keys("production-key-1", "100%41more", "key\u00e9!abcd")
	for _, s := range []string{
		"", "production", `production-key-2 \u0041 %41 &amp; &nosuch; \`, "%", "&", `\u12`, "100Amore", "\xff\xfe", "&" + strings.Repeat("x", 100),
	} {
		if got := k.Hide(s, stars); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if !k.In(`"100%41more"`) || !k.In(`\"100%41more`) {
		t.Error("a key that looks escaped is not found")
	}
	var none *secret.Keys
	if none.In("x") || none.Hide("x", stars) != "x" {
		t.Error("no keys find something")
	}
}

func TestAKeyInPiecesIsFound(t *testing.T) {
	k := keys("hunter2hunter2")
	for _, c := range []struct{ in, want []string }{
		{[]string{"a hunter2", "hunter2 b"}, []string{"a [masked KEY]", " b"}},
		{[]string{"a hunter2", "", "hun", "ter", "2 b"}, []string{"a [masked KEY]", "", "", "", " b"}},
		{[]string{"hunter2hunter2", "hunter2hunter2"}, []string{"[masked KEY]", "[masked KEY]"}},
		{[]string{"hunter2", "x", "hunter2"}, []string{"hunter2", "x", "hunter2"}},
		{[]string{`\u0068unter2\u00`, `68unter2`}, []string{"[masked KEY]", ""}},
		{nil, nil},
	} {
		if got := k.HideAcross(c.in, stars); !slices.Equal(got, c.want) {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}

// A text of nothing but keys costs no more than its length.
func TestManyKeysAreFoundInOnePass(t *testing.T) {
	const n = 100_000
	text := strings.Repeat(`hunter2\u0068unter2`, n)
	if got := keys("hunter2hunter2").Hide(text, stars); got != strings.Repeat("[masked KEY]", n) {
		t.Errorf("%d bytes, want %d", len(got), n*len("[masked KEY]"))
	}
	pieces := strings.SplitAfter(strings.Repeat("hunter2hunter2 ", n), "h")
	if got := strings.Join(keys("hunter2hunter2").HideAcross(pieces, stars), ""); got != strings.Repeat("[masked KEY] ", n) {
		t.Errorf("in pieces: %d bytes", len(got))
	}
}

func TestAMaskIsNotMasked(t *testing.T) {
	k := &secret.Keys{}
	k.Add("OPENAI_API_KEY", "OPENAI_API_KEY")
	if two := "[masked OPENAI_API_KEY] [masked OPENAI_API_KEY]"; k.Hide(two, stars) != two {
		t.Errorf("masks became %q", k.Hide(two, stars))
	}
	once := k.Hide("a OPENAI_API_KEY b", stars)
	if once != "a [masked OPENAI_API_KEY] b" || k.Hide(once, stars) != once {
		t.Errorf("%q, then %q", once, k.Hide(once, stars))
	}
}

// A mask in arguments must not make them something else than JSON.
func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := "k" + rapid.StringMatching(`[a-z+/"&<>\\é%=]{10,16}`).Draw(t, "key") + "k"
		text := rapid.StringMatching(`[ a-z"\\%&é]{0,5}`).Draw(t, "before") + key + rapid.StringMatching(`[ a-z"\\%&é]{0,5}`).Draw(t, "after")
		quoted, _ := json.Marshal(map[string]string{"a": text, key: "b"})
		escaped := string(quoted)
		for _, c := range rapid.SliceOf(rapid.SampledFrom([]string{"k", "a", "z", "+", "/"})).Draw(t, "escaped") {
			if c != "a" { // that is the name of a member
				escaped = strings.ReplaceAll(escaped, c, `\u00`+string("0123456789abcdef"[c[0]>>4])+string("0123456789abcdef"[c[0]&15]))
			}
		}
		if !json.Valid([]byte(escaped)) {
			t.Skip("an escape was escaped")
		}
		got := keys(key).Hide(escaped, stars)
		var back map[string]string
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatalf("%s became %s: %v", escaped, got, err)
		}
		if strings.Contains(back["a"], key) || back[stars("KEY")] != "b" {
			t.Fatalf("%s became %s", escaped, got)
		}
	})
}
