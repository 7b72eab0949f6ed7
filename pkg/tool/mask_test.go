package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	pages "html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

const secretOne = "q7Zk+w/R2&mP9\"x=3"

func TestMaskerKnowsValuesInEveryForm(t *testing.T) {
	m := NewMasker([]string{"DEPLOY_TOKEN=" + secretOne})
	var quoted, html bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if e.Encode(secretOne) != nil || json.NewEncoder(&html).Encode(secretOne) != nil {
		t.Fatal("can't encode")
	}
	for name, text := range map[string]string{
		"as it is":     secretOne,
		"JSON":         strings.Trim(strings.TrimSpace(quoted.String()), `"`),
		"JSON, HTML":   strings.Trim(strings.TrimSpace(html.String()), `"`),
		"query":        url.QueryEscape(secretOne),
		"path":         url.PathEscape(secretOne),
		"query, small": "q7Zk%2bw%2fR2%26mP9%22x%3d3",
		"a page":       pages.EscapeString(secretOne),
		"a page's +":   strings.ReplaceAll(pages.EscapeString(secretOne), "+", "&#43;"),
		"PHP's JSON":   `q7Zk+w\/R2&mP9\"x=3`,
		".NET's JSON":  `q7Zk\u002Bw/R2\u0026mP9\"x=3`,
		"all escaped":  `\u0071\u0037\u005a\u006b\u002b\u0077\u002f\u0052\u0032\u0026\u006d\u0050\u0039\u0022\u0078\u003d\u0033`,
		"base64":       base64.StdEncoding.EncodeToString([]byte(secretOne)),
		"base64, URL":  base64.URLEncoding.EncodeToString([]byte(secretOne)),
		"base64, bare": strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secretOne)), "="),
	} {
		got := m.Mask("前" + text + "🙂")
		if !strings.HasPrefix(got, "前[masked DEPLOY_TOKEN]") || len(got) > len("前[masked DEPLOY_TOKEN]x🙂") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
	for _, user := range []string{"", "a", "ab", "abc", "user:"} { // wherever it begins in the base64
		text := base64.StdEncoding.EncodeToString([]byte(user + secretOne + "\nmore"))
		if got := m.Mask(text); !strings.Contains(got, "[masked DEPLOY_TOKEN]") {
			t.Errorf("%q in base64: %q", user, got)
		}
	}
}

func TestMaskerJoinsWhatOverlaps(t *testing.T) {
	for _, tt := range []struct {
		environ           []string
		text, want, about string
	}{
		{[]string{"A_TOKEN=ab12cd34ef", "B_TOKEN=34ef56gh78"}, "<ab12cd34ef56gh78>", "<[masked A_TOKEN]>", "overlap"},
		{[]string{"A_TOKEN=ab12cd34ef", "B_TOKEN=34ef56gh78"}, "ab12cd34ef34ef56gh78", "[masked A_TOKEN][masked B_TOKEN]", "side by side"},
		{[]string{"A_TOKEN=ab12cd34", "B_TOKEN=ab12cd34ef56"}, "ab12cd34ef56 ab12cd34ef5", "[masked B_TOKEN] [masked A_TOKEN]ef5", "the longest first"},
		{[]string{"A_TOKEN=ab12cd34", "B_TOKEN=x1ab12cd34y2"}, "x1ab12cd34y2", "[masked B_TOKEN]", "one in another"},
		{[]string{"A_TOKEN=a1b2a1b2", "B_TOKEN=qwertz12"}, "a1b2a1b2a1b2a1b", "[masked A_TOKEN]a1b", "itself"},
		{[]string{"A_TOKEN=same1234word", "B_TOKEN=same1234word"}, "same1234word", "[masked A_TOKEN]", "the same twice"},
	} {
		if got := NewMasker(tt.environ).Mask(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.about, got, tt.want)
		}
	}
}

func TestMaskerChoosesVariables(t *testing.T) {
	for _, tt := range []struct {
		variable string
		secret   string // "" none
	}{
		{"GITHUB_TOKEN=abcd1234efgh", "abcd1234efgh"},
		{"github_token=abcd1234efgh", "abcd1234efgh"},
		{"TOKEN_2=abcd1234efgh", "abcd1234efgh"},
		{"DB_PASSWORD=hunter2hunter2", "hunter2hunter2"},
		{"PGPASSWORD=s3cr3t-s3cr3t", "s3cr3t-s3cr3t"},
		{"RESTIC_PASSPHRASE=correct horse battery staple", "correct horse battery staple"},
		{"BORG_PASSPHRASE=correct-horse-battery-staple", "correct-horse-battery-staple"},
		{"SERVICE_PASSWORD=密码是一二三四五六", "密码是一二三四五六"},
		{"AWS_SECRET_ACCESS_KEY=/" + random[:39], "/" + random[:39]},
		{"VAULT_SECRET_ID=6a1f0c2e-77aa-4e0b-9d3c-1b2f3a4d5e6f", "6a1f0c2e-77aa-4e0b-9d3c-1b2f3a4d5e6f"},
		{"NPM_CONFIG__AUTH=dXNlcjpxN1prd1IybVA5", "dXNlcjpxN1prd1IybVA5"},
		{"DB_PASSWORD=$ecret12", "$ecret12"},
		{"A_PASSWORD_KEY=$2a$10$abcdefgh", "$2a$10$abcdefgh"},
		{"A_PASSWORD=yourself99", "yourself99"},
		{"SESSION_SECRET=kX82hQ0vbb", "kX82hQ0vbb"},
		{"API_TOKEN= kX82hQ0vbb\n", "kX82hQ0vbb"},
		{"DATABASE_URL=postgres://app:hunter2hunter2@db:5432/app", "hunter2hunter2"},
		{"HTTPS_PROXY=http://me:p%40ss1word2@proxy:3128", "p@ss1word2"},
		{"ANYTHING=redis://:kX82hQ0vbb@cache:6379/0", "kX82hQ0vbb"},

		{"API_KEY=short12", ""},
		{"KEYBOARD=de-latin1-nodeadkeys", ""},
		{"TOKENIZERS_PARALLELISM=enabled99", ""},
		{"GIT_AUTHOR_NAME=Ada Lovelace 1815", ""},
		{"PWD=/srv/app12/work34", ""},
		{"OLDPWD=/srv/app12/work34", ""},
		{"SSH_AUTH_SOCK=/tmp/ssh-aB3dE5f7hI9k/agent.1234", ""},
		{"XDG_SESSION_ID=c123456789", ""},
		{"XDG_SESSION_TYPE=wayland-1", ""},
		{"SESSION_MANAGER=local/host:@/tmp/.ICE-unix/1234", ""},
		{"DESKTOP_SESSION=ubuntu-22.04", ""},
		{"GOOGLE_APPLICATION_CREDENTIALS=/home/me/.config/gcloud/key-4711.json", ""},
		{"AUTH_BACKEND=postgres16", ""},
		{"COOKIE_DOMAIN=app.example.com", ""},
		{"PASSWORD_HASHER=bcrypt_sha256", ""},
		{"JWT_ALGORITHM=RS256-and-more", ""},
		{"POSTGRES_PASSWORD=postgres", ""},
		{"SECRET_KEY=production", ""},
		{"A_SECRET=Development", ""},
		{"A_TOKEN=xxxxxxxxxxxx", ""},
		{"A_TOKEN=your-token-4-here", ""},
		{"A_TOKEN=${OTHER_TOKEN1}", ""},
		{"A_TOKEN=$OTHER_TOKEN", ""},
		{"A_TOKEN=<my-token-4>", ""},
		{"A_TOKEN={{ secrets.T1 }}", ""},
		{"A_PASSWORD=12345678", ""},
		{"A_KEY=2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z"},
		{"TOKEN_ENDPOINT=https://auth.example.com/v1", ""},
		{"AUTH_TOKEN=https://auth.example.com/v1", ""},
		{"DATABASE_URL=postgres://postgres:postgres@db/app", ""},
		{"PASSWORD", ""},
		{"=C:=C:\\dir1234\\x", ""},
		{"", ""},
	} {
		_, value, _ := strings.Cut(tt.variable, "=")
		if tt.secret != "" {
			value = tt.secret
		}
		text := "看 " + value + " 🙂"
		got := NewMasker([]string{tt.variable}).Mask(text)
		if hidden := !strings.Contains(got, value); hidden != (tt.secret != "") && value != "" {
			t.Errorf("%s: %q", tt.variable, got)
		}
	}
}

func TestNamedKeysAreMaskedWhateverTheirNames(t *testing.T) {
	m := NewMasker([]string{"OPENAI_API_KEY=production7", "LOCAL_LLM=work:station8", "ZAI_API_KEY=tiny", "MODE=production"},
		"OPENAI_API_KEY", "LOCAL_LLM", "ZAI_API_KEY", "GEMINI_API_KEY")
	got := m.Mask("production7 work:station8 tiny production")
	if want := "[masked OPENAI_API_KEY] [masked LOCAL_LLM] tiny production"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A mask is never made of or into something else.
func TestMasksStayAsTheyAre(t *testing.T) {
	m := NewMasker([]string{
		"A_TOKEN=hello1 [masked ", "B_TOKEN=[masked A_TOKEN]", "C_TOKEN=tail123456[mas", "D_TOKEN=]x1234567",
		"E_TOKEN=OPENAI_API_KEY2", "F_TOKEN=masked A_TOKEN",
	}, "E_TOKEN")
	for _, tt := range [][2]string{
		{"[masked A_TOKEN]", "[masked A_TOKEN]"},
		{"[masked OPENAI_API_KEY2]", "[masked OPENAI_API_KEY2]"},
		{"OPENAI_API_KEY2", "[masked E_TOKEN]"},
		{"tail123456[masked private-key]", "[masked C_TOKEN][masked private-key]"},
		{"[masked A_TOKEN]x1234567", "[masked A_TOKEN]x1234567"},
		{"[masked nobody]", "[masked nobody]"},
		{"[masked [masked jwt]", "[masked [masked jwt]"},
		{"[masked OPENAI_API_KEY2", "[masked [masked E_TOKEN]"},
	} {
		if got := m.Mask(tt[0]); got != tt[1] || m.Mask(got) != got {
			t.Errorf("%q became %q and %q, want %q", tt[0], got, m.Mask(got), tt[1])
		}
	}
}

func TestHoldsKnowsMasksFromWords(t *testing.T) {
	m := NewMasker([]string{"PLAIN=redis://u:kX82hQ0vbb@h"})
	for text, want := range map[string]bool{
		`{"command":"curl -H 'x: [masked GITHUB_TOKEN]'"}`: true, // of another run, perhaps
		"[masked PLAIN]":             true,
		"[masked openai-key]":        true,
		"[masked x] [masked jwt]":    true,
		"前[masked private-key]后":     true,
		"":                           false,
		"[masked]":                   false,
		"[masked NAME]":              false,
		"[masked password]":          false,
		"[masked by the firewall]":   false,
		"[masked OTHER]":             false,
		"[masked GITHUB_TOKEN":       false,
		"[ masked GITHUB_TOKEN]":     false,
		"[masked  GITHUB_TOKEN]":     false,
		"the mask of [GITHUB_TOKEN]": false,
	} {
		if got := m.Holds(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestNoMaskerMasksNothing(t *testing.T) {
	for _, m := range []*Masker{nil, {}} {
		text := "sk-proj-" + random + " [masked jwt] 好"
		s := m.Stream()
		if m.Mask(text) != text || m.Holds(text) || s.Write(text[:9])+s.Write(text[9:])+s.Flush() != text {
			t.Errorf("%q was changed", text)
		}
	}
}

func TestMaskReturnsValidText(t *testing.T) {
	m := NewMasker([]string{"A_TOKEN=\xff\xfe1234567890", "B_TOKEN=a1b2c3d4\uFFFDx"})
	got := m.Mask("\xff\xfea\xe4\xbdb\xff\xfe1234567890 a1b2c3d4\xffx")
	if want := "\uFFFDa\uFFFDb\uFFFD1234567890 a1b2c3d4\uFFFDx"; got != want || !utf8.ValidString(got) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOnlyKeysAreMaskedWhereWordsCount(t *testing.T) {
	environ := []string{"GATEWAY= hunter2hunter2\n", "DB_PASSWORD=" + secretOne, "SHORT=1234567"}
	m := NewMasker(environ, "GATEWAY", "SHORT", "UNSET")
	text := `hunter2hunter2 \u0068unter2hunter2 ` + secretOne + " 1234567"
	if got, want := m.MaskKeys(text), "[masked GATEWAY] [masked GATEWAY] "+secretOne+" 1234567"; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := m.MaskReply(text), "[masked GATEWAY] [masked GATEWAY] [masked DB_PASSWORD] 1234567"; got != want {
		t.Errorf("of a reply: %s", got)
	}
	if !m.HoldsKey("&#104;unter2hunter2") || m.HoldsKey(secretOne) {
		t.Error("a key is not known, or too many are")
	}
	if !m.Holds("[masked UNSET]") {
		t.Error("the mask of a key that is not set any more is none")
	}
}

// What servers without keys are given is a word of any text: to mask it would
// destroy answers and calls.
func TestAPlaceholderKeyIsNotMasked(t *testing.T) {
	for _, key := range []string{
		"anything", "lm-studio", "not-needed", "12345678", "ollama", "sk-no-key-required", "test", "dummy", "EMPTY",
		"no-key", "placeholder", "unused", "correcthorse", "<your key>", "$OPENAI_API_KEY", "dummy-key-12345",
	} {
		m := NewMasker([]string{"OPENAI_API_KEY=" + key}, "OPENAI_API_KEY")
		text := `You may do ` + key + ` you like: {"a":` + key + `}`
		if got := m.MaskReply(text); got != text || m.HoldsKey(text) {
			t.Errorf("%s: %s", key, got)
		}
		if got := m.MaskCutKey(text); got != text {
			t.Errorf("%s, cut: %s", key, got)
		}
	}
	for _, key := range []string{
		"SECRETKEY1234567890abcdef", "hunter2hunter2", "sk-very-secret-key1", "0123456789012345", "/b8Ewords/in/base64/thatlookplain",
		"correcthorsebatterystaple", "NoWordAtAll", "https://h/?k=1", "pass1234",
	} {
		m := NewMasker([]string{"OPENAI_API_KEY=" + key}, "OPENAI_API_KEY")
		if got := m.MaskReply("a " + key + " b"); got != "a [masked OPENAI_API_KEY] b" {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// However the arguments of a call spell a mask, a tool would write the mask.
func TestHoldsKnowsEscapedMasks(t *testing.T) {
	m := NewMasker(nil, "OPENAI_API_KEY")
	deep := `{"a":[{"b":{"\u005bmasked OPENAI_API_KEY]":1}}]}`
	inner, _ := json.Marshal(`{"url":"postgres://app:\u005bmasked url-password]@db/x"}`)
	for text, want := range map[string]bool{
		`{"path":"f.txt","content":"url: postgres://app:\u005bmasked url-password]@db/x"}`: true,
		`{"content":"\u005B\u006d\u0061sked\u0020jwt\u005d"}`:                              true,
		`{"content":"a\n\t\"q\" 前\u524d😀\ud83d\ude00[masked private-key\u005d"}`:           true,
		`{"command":"printf '\\x5bmasked jwt]' > f"}`:                                      true,
		`{"address":"http://h/?k=%5Bmasked%20jwt%5D"}`:                                     true,
		`{"content":` + string(inner) + `}`:                                                true,
		deep:                                                                               true,
		`{"content":"\u005bmasked nobody]"}`:                                               false,
		`{"content":"\u005b masked jwt]"}`:                                                 false,
		`{"content":"a \u005b b \\ \ud83d 100% & \"}`:                                      false,
	} {
		if m.Holds(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
