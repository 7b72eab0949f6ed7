package tool

import "strings"

// span returns the length of the longest beginning of s that is of one class.
func span(s string, class func(byte) bool) int {
	for i := range len(s) {
		if !class(s[i]) {
			return i
		}
	}
	return len(s)
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isUpperAlnum(c byte) bool { return isUpper(c) || isDigit(c) }
func isWordByte(c byte) bool   { return isAlnum(c) || c == '_' }
func isURLBase64(c byte) bool  { return isWordByte(c) || c == '-' }
func isPathWord(c byte) bool   { return isURLBase64(c) || c == '/' }
func isBase64(c byte) bool     { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
func isBearer(c byte) bool     { return isBase64(c) || strings.IndexByte("-._~", c) >= 0 }
