package cmd

import (
	"slices"
	"strings"
	"testing"
)

const recipesPage = "../docs/recipes.md"

// A recipe is run from its own text in the page.

const downOnce = "- {when: {attempt: 1}, error: {kind: network, message: the line is down}}\n- {text: here it is}\n"

func TestTheRecipeThatGoesOnUntilItIsDone(t *testing.T) {
	d, recipe := newDesk(t), readPage(t, recipesPage).under(t, "Until it is done", "sh")
	d.set("KAGENT_RETRIES", "0")
	d.script(downOnce)
	d.must(recipe)
	if got := d.read("report.md"); got != "here it is\n" {
		t.Errorf("report.md is %q", got)
	}
	if out, _ := d.must("kagent show report --events | grep -c session/opened"); out != "2\n" {
		t.Errorf("opened %s times, want 2", out)
	}

	d = newDesk(t) // what waiting does not mend ends it
	d.script("- error: {kind: auth, message: no}\n")
	if _, said, code := d.sh(recipe); code != 1 || strings.Count(said, "session report") != 1 {
		t.Errorf("exit %d\n%s", code, said)
	}
}

func TestTheRecipeWithATimeLimit(t *testing.T) {
	need(t, "timeout")
	d, recipe := newDesk(t), readPage(t, recipesPage).under(t, "A time limit", "sh")
	d.script("- {when: {attempt: 1}, delay: 1000s, text: never}\n- {text: in time}\n")
	first, rest, _ := strings.Cut(recipe, "||")
	if out, said := d.must(strings.Replace(first, " 10m ", " 1s ", 1) + "||" + rest); !strings.HasSuffix(out, "in time\n") ||
		!strings.Contains(said, "interrupted: signal") {
		t.Errorf("%q\n%s", out, said)
	}
	d = newDesk(t)
	if out, _ := d.must(recipe); !strings.Contains(out, "offline demo") {
		t.Errorf("%q", out)
	}
}

func TestTheRecipeForSeveralAtOnce(t *testing.T) {
	need(t, "xargs")
	d, recipe := newDesk(t), readPage(t, recipesPage).under(t, "Several at once", "sh")
	d.write("with space.go", "package main\n")
	d.set("KAGENT_RETRIES", "0")
	d.script("- {when: {attempt: 1, last_user: space}, error: {kind: network, message: gone}}\n- {text: no bugs}\n")
	out, said := d.must(recipe)
	if d.read("main.go.txt") != "no bugs\n" || strings.Count(said, "session ") != 3 || !strings.Contains(out, "completed") {
		t.Errorf("%s\n%s", out, said)
	}
	if out, _ := d.must("kagent list --status completed -q | wc -l"); strings.TrimSpace(out) != "2" {
		t.Errorf("%s are completed, want 2", out)
	}
}

func TestTheRecipeForJSON(t *testing.T) {
	need(t, "jq")
	d, recipe := newDesk(t), readPage(t, recipesPage).under(t, "JSON in a script", "sh")
	if out, _ := d.must(recipe); !strings.Contains(out, "offline demo") {
		t.Errorf("%q", out)
	}
	d = newDesk(t)
	d.set("KAGENT_RETRIES", "0")
	d.script("- error: {kind: network, message: gone}\n")
	if out, said := d.must(recipe); out != "interrupted: network, then: kagent resume facts\n" || !strings.Contains(said, "ended with 75") {
		t.Errorf("%q\n%s", out, said)
	}
}

func TestTheRecipeThatReplays(t *testing.T) {
	d := newDesk(t)
	d.must(readPage(t, recipesPage).under(t, "Tested without a key", "sh"))
	if d.read("second.txt") == "" {
		t.Error("there is no answer")
	}
}

// Whoever adds a recipe adds its test.
func TestEveryRecipeIsTried(t *testing.T) {
	tried := []string{
		"Until it is done sh", "A time limit sh", "Several at once sh", "JSON in a script sh", "Tested without a key sh",
		"cron crontab", "systemd ini", "systemd ini", "GitHub Actions yaml", "GitLab CI yaml", "A container dockerfile", "A container sh", "Kubernetes yaml",
	}
	var there []string
	for _, b := range readPage(t, recipesPage).blocks {
		there = append(there, b.heading+" "+b.lang)
	}
	if !slices.Equal(there, tried) {
		t.Errorf("the page has %q", there)
	}
}
