package tool

import (
	"slices"
	"strings"

	"kagent/pkg/secret"
)

// A shape tells whether something of one kind begins with rest. Of what comes
// before it sees a few bytes, and nothing of an earlier mask. While a text is
// not complete it may ask for more.
type shape func(before, rest string, final bool) sighting

// A sighting is what a shape has to say: nothing while kind is empty.
type sighting struct {
	kind     string
	from, to int       // what is to be masked at least
	tail     shapeTail // what belongs to it after that; nil: nothing
	more     bool      // can't be told yet
}

// A shapeTail returns how much at the beginning of rest still belongs to a
// shape, and whether that may go on when there is more text.
type shapeTail func(rest string, final bool) (n int, open bool)

// A tokenShape is a fixed prefix with random letters and digits after it. What
// comes after the least that there must be decides nothing, but belongs to it.
type tokenShape struct {
	kind   string
	prefix string
	least  int             // bytes after the prefix
	turns  int             // at least so many among the first tokenReach bytes
	class  func(byte) bool // of the bytes after the prefix
	dots   bool            // single dots join parts
	bound  bool            // no letter or digit may come before the prefix
	words  bool            // what is made of words alone is none
	keep   bool            // the prefix is no secret, and its case doesn't matter
}

// tokenReach is how far into a token one looks for randomness.
const tokenReach = 64

// tokenShapes lists the special before the general.
func tokenShapes() []tokenShape {
	shapes := []tokenShape{
		{kind: "anthropic-key", prefix: "sk-ant-", least: 20, turns: 4, class: isURLBase64, bound: true},
		{kind: "openai-key", prefix: "sk-proj-", least: 20, turns: 4, class: isURLBase64, bound: true},
		{kind: "openai-key", prefix: "sk-svcacct-", least: 20, turns: 4, class: isURLBase64, bound: true},
		{kind: "openai-key", prefix: "sk-admin-", least: 20, turns: 4, class: isURLBase64, bound: true},
		{kind: "api-key", prefix: "sk-", least: 20, turns: 5, class: isURLBase64, bound: true},
		{kind: "github-token", prefix: "github_pat_", least: 36, turns: 4, class: isWordByte},
		{kind: "aws-key-id", prefix: "AKIA", least: 16, turns: 1, class: isUpperAlnum, bound: true},
		{kind: "aws-key-id", prefix: "ASIA", least: 16, turns: 1, class: isUpperAlnum, bound: true},
		{kind: "google-key", prefix: "AIza", least: 35, turns: 4, class: isURLBase64, bound: true},
		{kind: "huggingface-token", prefix: "hf_", least: 30, turns: 4, class: isAlnum, bound: true},
		{kind: "npm-token", prefix: "npm_", least: 36, turns: 4, class: isAlnum, bound: true},
		{kind: "pypi-token", prefix: "pypi-AgE", least: 50, turns: 4, class: isURLBase64},
		{kind: "slack-token", prefix: "xapp-", least: 30, turns: 3, class: isURLBase64},
		{kind: "webhook-secret", prefix: "whsec_", least: 24, turns: 4, class: isBase64, bound: true},
		{kind: "slack-webhook", prefix: "hooks.slack.com/services/", least: 20, turns: 3, class: isBase64, keep: true},
		{kind: "discord-webhook", prefix: "discord.com/api/webhooks/", least: 40, turns: 4, class: isPathWord, keep: true},
		{kind: "bearer-token", prefix: "Bearer ", least: 16, turns: 3, class: isBearer, bound: true, words: true, keep: true},
	}
	add := func(s tokenShape, prefixes ...string) {
		for _, s.prefix = range prefixes {
			shapes = append(shapes, s)
		}
	}
	add(tokenShape{kind: "github-token", least: 30, turns: 4, class: isWordByte, dots: true},
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_")
	add(tokenShape{kind: "gitlab-token", least: 20, turns: 3, class: isURLBase64, dots: true},
		"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-")
	add(tokenShape{kind: "slack-token", least: 20, turns: 2, class: isURLBase64},
		"xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-")
	add(tokenShape{kind: "stripe-key", least: 16, turns: 3, class: isAlnum, bound: true},
		"sk_live_", "rk_live_", "sk_test_", "rk_test_")
	add(tokenShape{kind: "basic-auth", least: 12, turns: 2, class: isBase64, keep: true},
		"Authorization: Basic ", `Authorization":"Basic `, `Authorization": "Basic `)
	add(tokenShape{kind: "aws-secret", least: 40, turns: 4, class: isBase64, keep: true},
		"aws_secret_access_key=", "aws_secret_access_key = ", "aws_secret_access_key: ",
		`"SecretAccessKey": "`, `"SecretAccessKey":"`)
	return shapes
}

// starts returns what the shape begins with, in every case that it may have.
func (s *tokenShape) starts() []string {
	if !s.keep {
		return []string{s.prefix}
	}
	starts := []string{""}
	for _, c := range s.prefix[:3] {
		var longer []string
		for _, start := range starts {
			longer = append(longer, start+strings.ToLower(string(c)), start+strings.ToUpper(string(c)))
		}
		starts = longer
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}

func (s *tokenShape) match(before, rest string, final bool) sighting {
	n := min(len(rest), len(s.prefix))
	if rest[:n] != s.prefix[:n] && !(s.keep && strings.EqualFold(rest[:n], s.prefix[:n])) ||
		s.bound && !atBoundary(before) {
		return sighting{}
	}
	window := rest[n:min(len(rest), n+tokenReach)]
	got := span(window, s.class)
	open := !final && n+got == len(rest)
	if n < len(s.prefix) || got < s.least {
		return sighting{more: open}
	}
	if secret.Turns(window[:got]) < s.turns {
		return sighting{more: open && got < tokenReach}
	}
	if stereotyped(window[:s.least]) {
		return sighting{}
	}
	if s.words && areWords(window[:got]) {
		return sighting{more: open && got < tokenReach}
	}
	hit := sighting{kind: s.kind, to: n + got, tail: classTail(s.class, s.dots)}
	if s.keep {
		hit.from = n
	}
	return hit
}

// classTail goes on with bytes of a class.
func classTail(class func(byte) bool, dots bool) shapeTail {
	return func(rest string, final bool) (n int, open bool) {
		for {
			n += span(rest[n:], class)
			if n == len(rest) {
				return n, !final
			}
			if !dots || rest[n] != '.' {
				return n, false
			}
			if n+1 == len(rest) {
				return n, !final
			}
			if !class(rest[n+1]) {
				return n, false
			}
			n++
		}
	}
}

// atBoundary reports whether a word may begin after before. The last letter of
// an escape, as in "\nsk-…", "%3Dsk-…" and "\x1b[31msk-…", is no part of one.
func atBoundary(before string) bool {
	n := len(before)
	if n == 0 || !isAlnum(before[n-1]) {
		return true
	}
	last := before[n-1]
	switch {
	case n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", last) >= 0:
		return true
	case n >= 3 && before[n-3] == '%' && isHex(before[n-2]) && isHex(last):
		return true
	case n >= 6 && before[n-6:n-4] == `\u` && span(before[n-4:], isHex) == 4:
		return true
	case last == 'm':
		return strings.HasSuffix(strings.TrimRight(before[:n-1], "0123456789;"), "[")
	}
	return false
}

// areWords reports whether a token is the name of something, written as programs
// write them: "AccessTokenAuthenticationHandler". The last word may be a beginning
// of one, so that what is cut remains what it was.
func areWords(token string) bool {
	for i := 0; i < len(token); {
		if strings.IndexByte("._-", token[i]) >= 0 {
			i++
			continue
		}
		capitals := span(token[i:], isUpper)
		small := span(token[i+capitals:], isLower)
		i += capitals + small
		if capitals+small == 0 || i < len(token) && small < 2 {
			return false
		}
	}
	return true
}

// stereotyped reports whether a token was made up to show what one looks like.
func stereotyped(token string) bool {
	same := 1
	for i := 1; i < len(token); i++ {
		if same++; token[i] != token[i-1] {
			same = 1
		}
		if same == 6 {
			return true
		}
	}
	return strings.Contains(strings.ToLower(token), "example")
}
