package main_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// outline is a page without its prose.
type outline struct {
	headings []string       // their levels
	rows     int            // of tables
	blocks   []string       // of code, without comments
	spans    map[string]int // of code within a line
}

func outlineOf(t *testing.T, file string) (o outline) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fence, comment := regexp.MustCompile("(?ms)^```.*?^```$"), regexp.MustCompile(`(?m)^# .*$`)
	for _, code := range fence.FindAllString(string(b), -1) {
		o.blocks = append(o.blocks, comment.ReplaceAllString(code, "#"))
	}
	prose := fence.ReplaceAllString(string(b), "")
	for line := range strings.Lines(prose) {
		switch {
		case strings.HasPrefix(line, "#"):
			o.headings = append(o.headings, strings.Fields(line)[0])
		case strings.HasPrefix(line, "|"):
			o.rows++
		}
	}
	o.spans = map[string]int{}
	for _, span := range regexp.MustCompile("`[^`]+`").FindAllString(prose, -1) {
		o.spans[strings.Join(strings.Fields(span), " ")]++
	}
	return o
}

// What one README says, the other says too: the same sections, tables, code, and
// names of flags, files and commands.
func TestBothReadmesSayTheSame(t *testing.T) {
	en, zh := outlineOf(t, "README.md"), outlineOf(t, "README.zh-CN.md")
	if !slices.Equal(en.headings, zh.headings) || en.rows != zh.rows {
		t.Errorf("%q and %d rows, but %q and %d", en.headings, en.rows, zh.headings, zh.rows)
	}
	if len(en.blocks) != len(zh.blocks) || len(en.blocks) == 0 {
		t.Fatalf("%d blocks of code, but %d", len(en.blocks), len(zh.blocks))
	}
	for i, code := range en.blocks {
		if code != zh.blocks[i] {
			t.Errorf("block %d is\n%s\nbut\n%s", i+1, code, zh.blocks[i])
		}
	}
	for _, span := range slices.Sorted(maps.Keys(en.spans)) {
		if zh.spans[span] == 0 {
			t.Errorf("only README.md names %s", span)
		}
	}
	for _, span := range slices.Sorted(maps.Keys(zh.spans)) {
		if en.spans[span] == 0 {
			t.Errorf("only README.zh-CN.md names %s", span)
		}
	}
}
