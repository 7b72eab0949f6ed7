package cmd

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the pages say of services is what the catalogue has: names, variables of
// keys, and how many there are. The rest of a page is not looked at.
func TestThePagesNameServicesAndKeysThatThereAre(t *testing.T) {
	c := known(t)
	variables := []string{"KAGENT_MODEL"}
	for _, s := range c.Services() {
		variables = append(variables, s.Keys...)
	}
	for _, page := range pagesOfUsers() {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b[A-Z]+_API_KEY\b`).FindAllString(string(raw), -1) {
			if !slices.Contains(variables, name) {
				t.Errorf("%s: no service's key is in %s", page, name)
			}
		}
		for _, m := range regexp.MustCompile(`(?:-m|--model|KAGENT_MODEL=|model:) ?([a-z.-]+/[^\s'"]+)`).FindAllStringSubmatch(string(raw), -1) {
			if _, err := resolveModel(c, strings.TrimRight(m[1], "`,;")); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## Models\n")
	list, _, ok := strings.Cut(section, "some\ntwenty services")
	listed := regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(list, -1)
	for _, m := range listed {
		if _, known := c.Service(m[1]); !known {
			t.Errorf("there is no service %s", m[1])
		}
	}
	if others := len(c.Services()) - len(listed); !ok || len(listed) < 5 || others < 20 || others > 29 {
		t.Errorf("%d services beside %d that are named are not some twenty", others, len(listed))
	}
}
