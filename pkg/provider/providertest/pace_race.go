//go:build race

package providertest

// hurry: under the race detector all is ten times as slow, and what it looks
// for does not hang on the byte.
const hurry = true
