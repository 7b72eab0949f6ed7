package demo

import (
	"fmt"
	"strings"
)

// Bounds of what is repeated, in runes.
const (
	maxQuestion = 600
	maxLine     = 120
	maxError    = 300
	maxNames    = 12
)

// What every answer says.
const (
	preface = "I am kagent's offline demo, not a language model: I can't think about your question, but I can show what the tools return."
	asked   = "You asked: "
	closing = "For a real answer choose a model with --model."
)

// answer tells what was asked and what was found, a paragraph each.
func (t *turn) answer() string {
	said := []string{preface}
	if task := t.task(); task != "" {
		said = append(said, asked+cut(task, maxQuestion))
	}
	said = append(said, t.results()...)
	switch {
	case len(said) > 2 && !t.offers(listTool): // the parts have looked
	case len(t.attached) > 0:
		for _, a := range t.attached {
			said = append(said, "Attached from "+cut(a.name, maxLine)+": "+measure(a.text))
		}
	case !t.offers(listTool) && !t.tried(listTool):
		said = append(said, "No tool to list files was offered. Your message: "+measure(t.question))
	default:
		said = append(said, t.directory())
		said = append(said, t.files()...)
	}
	said = append(said, closing)
	return strings.Join(said, "\n\n")
}

// measure tells the size and the first line of a text.
func measure(text string) string {
	if strings.TrimSpace(text) == "" {
		return "empty."
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	return fmt.Sprintf("%s with %s. It begins with “%s”.",
		plural(lines, "line"), plural(len(strings.Fields(text)), "word"), firstLine(text))
}

// directory tells what the listing brought.
func (t *turn) directory() string {
	o := t.outcome(listTool)
	switch {
	case o == nil || !o.answered:
		return "Listing the directory brought no result."
	case o.IsError:
		return "Listing the directory failed: " + oneLine(o.Text)
	}
	l := t.listing()
	said := fmt.Sprintf("The directory holds %s and %s", plural(len(l.files), "file"), plural(len(l.dirs), "directory"))
	if n := len(l.links) + len(l.others); n > 0 {
		said += ", and " + plural(n, "other entry")
	}
	if names := l.names(); len(names) > 0 {
		said += ": " + some(names, maxNames)
	}
	said += "."
	if len(l.remarks) > 0 {
		said += " The tool remarks: " + oneLine(strings.Join(l.remarks, " "))
	}
	return said
}

// files tells what reading brought.
func (t *turn) files() []string {
	var said, names []string
	for _, o := range t.done {
		file := o.path
		if file == "" {
			file = "a file"
		}
		switch {
		case o.Name != readTool:
		case !o.answered:
			said = append(said, "- Reading "+file+" brought no result.")
		case o.IsError:
			said = append(said, "- Reading "+file+" failed: "+oneLine(o.Text))
		default:
			said = append(said, "- "+file+": "+fact(file, o.Text)+"."+remark(o.Text))
			if name := projectName(file, o.Text); name != "" {
				names = append(names, name)
			}
		}
	}
	switch {
	case len(said) == 0 && !t.offers(readTool):
		return []string{"No tool to read files was offered."}
	case len(said) == 0:
		return nil
	}
	said = []string{"What I read:\n" + strings.Join(said, "\n")}
	if len(names) > 0 {
		said = append(said, "The project calls itself "+names[0]+".")
	}
	return said
}

// remark repeats what the tool says of a file that it did not show whole.
func remark(text string) string {
	if last := text[strings.LastIndexByte(text, '\n')+1:]; strings.HasPrefix(last, "[cut") {
		return " The tool remarks: " + oneLine(last)
	}
	return ""
}

// some joins the first n of list and tells how many are left.
func some(list []string, n int) string {
	var said []string
	for _, s := range list[:min(n, len(list))] {
		said = append(said, cut(s, maxLine))
	}
	if more := len(list) - n; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// oneLine makes a tool's error fit for a sentence.
func oneLine(s string) string { return cut(strings.Join(strings.Fields(s), " "), maxError) }

// cut shortens s to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
