package demo

import "strings"

// What an agent asks a child has headings: the task first, or the part of it that
// is the child's, then what belongs to it.
const (
	taskTitle   = "# Task\n"
	partTitle   = "# Your part\n"
	resultTitle = "# Result of "
)

// task is what is to be done, without what belongs to it.
func (t *turn) task() string {
	for _, title := range []string{taskTitle, partTitle} {
		if rest, ok := strings.CutPrefix(t.question, title); ok {
			rest, _, _ = strings.Cut(rest, "\n\n# ")
			return strings.TrimSpace(rest)
		}
	}
	return t.question
}

// results tells what the parts have brought that the question shows: of each
// only what was found.
func (t *turn) results() (said []string) {
	for _, s := range strings.Split(t.question, "\n\n"+resultTitle)[1:] {
		name, text, _ := strings.Cut(s, "\n\n")
		var found []string
		for _, paragraph := range strings.Split(text, "\n\n") {
			if paragraph != preface && paragraph != closing && !strings.HasPrefix(paragraph, asked) && !strings.HasPrefix(paragraph, "# ") {
				found = append(found, paragraph)
			}
		}
		said = append(said, "What the part "+cut(name, maxLine)+" found: "+cut(strings.Join(found, " "), maxQuestion))
	}
	return said
}
