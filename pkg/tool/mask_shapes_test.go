package tool

import (
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
)

// random looks like the body of a key. No test has a whole key in its source,
// for scanners of repositories would report it.
const random = "kJ8sQ2mX7vR4tB9nW3pL6hD5fG1zC0yA8eU2iO4kT7rM6qS9xV"

func keyBlock(label string) string {
	var data []byte
	for i := range 600 {
		data = append(data, byte(i*i>>3+7*i))
	}
	return strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: data})))
}

func aToken() string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + part([]byte(`{"sub":"1234567890"}`)) + "." + random[:43]
}

func TestMaskerKnowsShapes(t *testing.T) {
	m := NewMasker(nil)
	for kind, keys := range map[string][]string{
		"anthropic-key":     {"sk-ant-" + "api03-" + random + "-" + random + "AA"},
		"openai-key":        {"sk-proj-" + random + "_T3BlbkFJ-" + random, "sk-svcacct-" + random},
		"api-key":           {"sk-" + random[:48], "sk-or-v1-" + strings.Repeat("0f3a9c", 10), "sk-" + "0f3a9c71b2d84e5f0f3a9c71b2d84e5f"},
		"github-token":      {"ghp_" + random[:36], "gho_" + random[:36], "ghs_" + random[:36], "github_pat_" + random[:22] + "_" + random},
		"gitlab-token":      {"glpat-" + random[:20], "glpat-" + random[:27] + ".01.0" + random[:7]},
		"slack-token":       {"xoxb-" + "123456789012-1234567890123-" + random[:24], "xoxp-" + "1234-5678-9012-" + random},
		"aws-key-id":        {"AKIA" + "Q3EGR7T5WX2ZLMNB", "ASIA" + "Q3EGR7T5WX2ZLMNB"},
		"google-key":        {"AIza" + "SyD" + random[:32]},
		"huggingface-token": {"hf_" + random[:34]},
		"npm-token":         {"npm_" + random[:36]},
		"pypi-token":        {"pypi-AgE" + "IcHlwaS5vcmc" + random},
		"sendgrid-key":      {"SG." + random[:22] + "." + random[:43]},
		"stripe-key":        {"sk_live_" + random[:24], "rk_live_" + random, "sk_test_" + random[:24]},
		"jwt":               {aToken(), aToken() + "." + random, aToken()[:len(aToken())-44]},
		"private-key":       {keyBlock("RSA PRIVATE KEY"), keyBlock("PRIVATE KEY"), keyBlock("OPENSSH PRIVATE KEY"), keyBlock("PGP PRIVATE KEY BLOCK")},
	} {
		for _, key := range keys {
			for _, around := range [][2]string{
				{"", ""},
				{"a ", " b"},
				{"KEY=", "\n"},
				{`{"key":"`, `"}`},
				{"密钥", "。好"},
				{"🙂", "🙂"},
				{"(", ")"},
				{`"line\n`, `\nnext"`},
				{"x%3D", "&y=1"},
				{"\x1b[31m", "\x1b[0m"},
				{"\\u003d", ""},
				{"end ", ". Next"},
				{"`", "`"},
			} {
				want := around[0] + "[masked " + kind + "]" + around[1]
				text := around[0] + key + around[1]
				if got := m.Mask(text); got != want {
					t.Errorf("%q, want %q", got, want)
				}
				if wrong := checkMask(m, text); wrong != "" {
					t.Errorf("%q: %s", text, wrong)
				}
			}
		}
	}
}

func TestMaskerKnowsShapesByWhatIsAroundThem(t *testing.T) {
	oneLine := strings.ReplaceAll(keyBlock("PRIVATE KEY"), "\n", " ")
	escaped := strings.ReplaceAll(keyBlock("EC PRIVATE KEY"), "\n", `\n`)
	indented := strings.ReplaceAll("x:\n"+keyBlock("PRIVATE KEY"), "\n", "\n    ")
	numbered := "1\t" + strings.Replace(strings.ReplaceAll(keyBlock("PRIVATE KEY"), "\n", "\n  12\t"), "  12\t", "   2\t", 1)
	quoted := `"` + strings.ReplaceAll(keyBlock("PRIVATE KEY"), "\n", "\\n\" +\n\t\t\"") + `"`
	encrypted := strings.Replace(keyBlock("RSA PRIVATE KEY"), "\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n", 1)
	head := keyBlock("PRIVATE KEY")[:200]
	commented := strings.Replace(keyBlock("PRIVATE KEY"), "\n", "\n"+strings.Repeat("Comment: one of many lines, each of them short\n", 8), 1)
	for _, tt := range [][2]string{
		{"Authorization: Bearer " + random, "Authorization: Bearer [masked bearer-token]"},
		{"-H 'authorization: bearer " + random[:20] + "=='", "-H 'authorization: bearer [masked bearer-token]'"},
		{"Bearer " + aToken(), "Bearer [masked jwt]"},
		{"sk-" + strings.Repeat("slow-beginning-", 2) + random, "[masked api-key]"},
		{"session-" + aToken(), "session-[masked jwt]"},
		{"Bearer ghp_" + random + "/more", "Bearer [masked github-token]"},
		{"Authorization: Basic dXNlcjpxN1prd1IybVA5", "Authorization: Basic [masked basic-auth]"},
		{"aws_secret_access_key = " + random[:40] + "\n", "aws_secret_access_key = [masked aws-secret]\n"},
		{"AWS_SECRET_ACCESS_KEY=" + random[:40], "AWS_SECRET_ACCESS_KEY=[masked aws-secret]"},
		{"https://hooks.slack.com/services/T00A1B2C3/B00D4E5F6/" + random[:24] + ".", "https://hooks.slack.com/services/[masked slack-webhook]."},
		{"postgres://app:s3cr3t@db:5432/app", "postgres://app:[masked url-password]@db:5432/app"},
		{"redis://:s3cr3t@h", "redis://:[masked url-password]@h"},
		{"https://u:p@ss@word@h/x@y", "https://u:[masked url-password]@h/x@y"},
		{"https://x-access-token:ghs_" + random + "@github.com/a", "https://x-access-token:[masked github-token]@github.com/a"},
		{"https://4f1c9e7ab2d04c55:x-oauth-basic@github.com/a", "https://[masked url-password]:x-oauth-basic@github.com/a"},
		{"https://ghp_" + random + ":x-oauth-basic@github.com/a", "https://[masked github-token]:x-oauth-basic@github.com/a"},
		{"看https://u:s3cr3t@h。", "看https://u:[masked url-password]@h。"},
		{oneLine + " end", "[masked private-key] end"},
		{`{"k":"` + escaped + `\n","n":1}`, `{"k":"[masked private-key]\n","n":1}`},
		{indented + "\ny: 1", "x:\n    [masked private-key]\ny: 1"},
		{numbered + "\n", "1\t[masked private-key]\n"},
		{quoted, `"[masked private-key]"`},
		{encrypted, "[masked private-key]"},
		{head + "\n[masked A_TOKEN]\n" + random, "[masked private-key]\n[masked A_TOKEN]\n" + random},
		{"-----BEGIN PRIVATE KEY-----\nComment: [masked A_TOKEN]\n" + random, "-----BEGIN PRIVATE KEY-----\nComment: [masked A_TOKEN]\n" + random},
		{commented, "[masked private-key]"},
		{keyBlock("PRIVATE KEY") + "\n" + keyBlock("CERTIFICATE"), "[masked private-key]\n" + keyBlock("CERTIFICATE")},
	} {
		if got := NewMasker(nil).Mask(tt[0]); got != tt[1] {
			t.Errorf("%q became\n%q, want\n%q", tt[0], got, tt[1])
		}
		if wrong := checkMask(NewMasker(nil), tt[0]); wrong != "" {
			t.Errorf("%q: %s", tt[0], wrong)
		}
	}
}

func TestMaskerEndsAKeyThatWasCut(t *testing.T) {
	lines := strings.Split(keyBlock("PRIVATE KEY"), "\n")
	for _, tt := range [][2]string{
		{strings.Join(lines[:4], "\n"), "[masked private-key]"},
		{strings.Join(lines[:4], "\n") + "\n" + lines[4][:10] + "\n[… 99 bytes omitted …]\nfunc main() {", "[masked private-key]\n[… 99 bytes omitted …]\nfunc main() {"},
		{strings.Join(lines[:4], "\n") + "\n\nthat was it", "[masked private-key] was it"}, // a word more than needed
		{lines[0] + "\n" + lines[1][:40] + " … and so on", "[masked private-key] … and so on"},
	} {
		if got := NewMasker(nil).Mask(tt[0]); got != tt[1] {
			t.Errorf("%q became %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestMaskerLeavesOrdinaryTextAlone(t *testing.T) {
	image := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(random+"\x00\x01\xfe", 200)))
	for _, text := range []string{
		"da39a3ee5e6b4b0d3255bfef95601890afd80709", "commit ee49b35, tree 6d0338e1", "550e8400-e29b-41d4-a716-446655440000",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "h1:k7nVchz72niMH6YLQNvHSdIE7iqsQxK1P41mySCvssg=",
		"data:image/png;base64," + image, "go.sum v0.0.0-20240121214520-5f936abd7ae8/go.mod", strings.Repeat("A", 500), strings.Repeat("-", 500),
		"the task-list of a risk-averse desk-bound user", "task-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", "disk-0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d",
		"sk-...", "sk-xxxx", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-your-api-key-goes-right-here", "sk-1234567890abcdef1234567890abcdef", "sk-",
		"sk-ant-...", "sk-ant-api03-your-key-here-please-and-thanks", "sk-proj-XXXXXXXXXXXXXXXXXXXXXXXXXXXX", "lang sk-SK, sk-learn-based-Classification",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_", "github_pat_EXAMPLE", "glpat-XXXXXXXXXXXXXXXXXXXX", "xoxb-not-a-real-token-at-all-here",
		"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAXXXXXXXXXXXXXXXX", "XAKIA" + "Q3EGR7T5WX2ZLMNB", "AIzaSy...", "hf_hub_download(repo_id)",
		"npm_config_registry", "npm_package_dependencies_some_other_thing", "pypi-server", "SG.Format(x)", "sk_live_...", "eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.foo.bar",
		"Bearer authentication", "Bearer $OPENAI_API_KEY", "Bearer <token>", "Bearer YOUR_API_KEY_GOES_IN_HERE", "the bearer AuthenticationScheme",
		"Bearer AccessTokenAuthenticationHandler", "Bearer getHTTPBearerTokenProvider.", "bearer org.example.AuthToken_HandlerFactory", "Authorization: Basic realm",
		"http://localhost:8080/@scope/name", "https://example.com:443?a=b@c", "git@github.com:a/b.git", "ssh://git@github.com:22/a", "http://host:80, mail me@x.org",
		"看http://host:80。找me@x.org", "postgres://user:password@localhost/db", "postgres://postgres:postgres@db", "amqp://guest:guest@h", "https://u:${TOKEN}@h", "https://$TOKEN:x-oauth-basic@github.com/a/b", "https://${GH}:x-oauth-basic@h", "https://:x-oauth-basic@h", "https://user:%s@h", "://:@", "://",
		`strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----")`, "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\nThe block above is described in pkg/documentation/of/private/keys/in/general\n", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ",
		keyBlock("CERTIFICATE"), keyBlock("PUBLIC KEY"), "[masked]", "密钥在哪里？🙂", "",
	} {
		if got := NewMasker(nil).Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
