package tool

import (
	"strings"

	"kagent/pkg/secret"
)

const (
	kindPrivateKey = "private-key"

	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	keyDash  = "-----"
)

// How far one looks ahead, in bytes.
const (
	maxKeyHead = 1 << 10 // from the first line of a private key to its content
	maxKeyLine = 120     // in a line before that
	maxKeyGap  = 160     // between the lines of one
)

// privateKey matches the first line of a private key with the beginning of its
// content after it, be the lines broken or written as escapes.
func privateKey(_, rest string, final bool) sighting {
	if !strings.HasPrefix(rest, keyBegin) {
		return sighting{more: !final && strings.HasPrefix(keyBegin, rest)}
	}
	n := len(keyBegin)
	n += span(rest[n:min(len(rest), n+48)], isLabel)
	if !strings.HasPrefix(rest[n:], keyDash) {
		return sighting{more: !final && strings.HasPrefix(keyDash, rest[n:])}
	}
	label := strings.TrimSuffix(rest[len(keyBegin):n], " BLOCK")
	if !strings.HasSuffix(label, "PRIVATE KEY") {
		return sighting{}
	}
	n += len(keyDash)
	size, more := keyHead(rest[n:], final)
	if size == 0 {
		return sighting{more: more}
	}
	return sighting{kind: kindPrivateKey, to: n + size, tail: keyTail}
}

func isLabel(c byte) bool { return isUpperAlnum(c) || c == ' ' }

// keyHead returns where the content of a key has certainly begun: with many
// characters of base64, before which there are only empty lines and headers.
func keyHead(s string, final bool) (n int, more bool) {
	const least = 32
	window, open := keyWindow(s, maxKeyHead, final)
	for n < len(window) {
		line := window[n:min(len(window), n+maxKeyLine)]
		more = open && len(line) < maxKeyLine
		end := lineBreak(line)
		if end >= 0 {
			line = line[:end]
		}
		if i := longWord(line, least); i >= 0 {
			if secret.Turns(line[i:i+least]) < 3 {
				return 0, false
			}
			return n + i + least, false
		}
		if end < 0 {
			return 0, more
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < 0x80 && isAlnum(byte(r)) }) && !isKeyHeader(line) {
			return 0, false
		}
		n += end + breakLength(window[n+end:])
	}
	return 0, open
}

// isKeyHeader reports whether line is like "Proc-Type: 4,ENCRYPTED".
func isKeyHeader(line string) bool {
	name, _, ok := strings.Cut(strings.TrimLeft(line, " \t"), ": ")
	return ok && name != "" && span(name, isURLBase64) == len(name)
}

// keyTail goes on with base64, whatever is put around its lines, to the line
// that ends a private key. If there is none it ends with the last line of at
// least 24 characters and the word after that.
func keyTail(rest string, final bool) (n int, open bool) {
	const least = 24
	for {
		n += span(rest[n:], isBase64)
		if n == len(rest) {
			return n, !final
		}
		gap, more := keyWindow(rest[n:], maxKeyGap, final)
		end, word := strings.Index(gap, keyEnd), longWord(gap, least)
		switch {
		case word >= 0 && (end < 0 || word < end):
			n += word
		case end >= 0:
			end += len(keyEnd)
			label := span(gap[end:], isLabel)
			end += label
			if strings.HasPrefix(gap[end:], keyDash) {
				return n + end + len(keyDash), false
			}
			if more && strings.HasPrefix(keyDash, gap[end:]) {
				return n, true
			}
			return n + end, false
		case more:
			return n, true
		default:
			return n + lastWord(gap), false
		}
	}
}

// keyWindow returns at most size bytes of s, up to a mask, and whether there may
// come more to it.
func keyWindow(s string, size int, final bool) (window string, open bool) {
	window = s[:min(len(s), size)]
	open = !final && len(s) < size
	if i := strings.Index(window, maskOpen); i >= 0 {
		return window[:i], false
	}
	return window, open
}

// longWord returns where the first run of at least n base64 bytes begins, or -1.
func longWord(s string, n int) int {
	for i := 0; i < len(s); i++ {
		size := span(s[i:], isBase64)
		if size >= n {
			return i
		}
		i += size
	}
	return -1
}

// lastWord returns the length of a line break and the word after it, if s begins
// so.
func lastWord(s string) int {
	n := 0
	for n < len(s) {
		if b := breakLength(s[n:]); b > 0 {
			n += b
		} else if s[n] == ' ' || s[n] == '\t' {
			n++
		} else {
			break
		}
	}
	word := span(s[n:], isBase64)
	if word == 0 || lineBreak(s[:n]) < 0 {
		return 0
	}
	return n + word
}

// lineBreak returns where the first line of s ends, or -1.
func lineBreak(s string) int {
	for i := range len(s) {
		if breakLength(s[i:]) > 0 {
			return i
		}
	}
	return -1
}

// breakLength returns the length of the line break, written out or escaped, that
// s begins with.
func breakLength(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '\n' || s[0] == '\r':
		return 1
	case len(s) > 1 && s[0] == '\\' && (s[1] == 'n' || s[1] == 'r'):
		return 2
	}
	return 0
}
