package cmd

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"kagent/pkg/provider/catalogue"
)

// mostNear is how many models are suggested in the place of one.
const mostNear = 3

// dated matches the date that ends the names of models: people leave it out.
var dated = regexp.MustCompile(`-\d{8}$`)

// nearModels returns the full names of models that a misspelt name, without a
// service, is most like, the nearest first; of those that are as near the ones of
// the services that make them.
func nearModels(models []catalogue.Model, wrong string) []string {
	wrong = plainName(wrong)
	most := max(1, min(3, utf8.RuneCountInString(wrong)/4))
	away := map[string]int{}
	for _, m := range models {
		if d := distanceTo(wrong, m.Name); d <= most {
			away[m.Name] = d
		}
	}
	near := sortedKeys(away)
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Or(away[a]-away[b], bySlashes(a, b)) })
	if len(near) > 0 {
		far := away[near[0]] + min(away[near[0]], 1) // nothing is like what is the same
		near = slices.DeleteFunc(near, func(name string) bool { return away[name] > far })
	}
	return few(near)
}

// modelsWith returns some of the models whose own name holds a text.
func modelsWith(models []catalogue.Model, text string) (found []string) {
	if text = plainName(text); len(text) < 3 {
		return nil
	}
	for _, m := range models {
		if _, bare, _ := strings.Cut(plainName(m.Name), "/"); strings.Contains(bare, text) {
			found = append(found, m.Name)
		}
	}
	slices.SortStableFunc(found, bySlashes)
	return few(found)
}

func bySlashes(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") }

// few returns the first names, each model once, whoever offers it.
func few(names []string) (first []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if last := dated.ReplaceAllString(lastPart(plainName(name)), ""); !seen[last] && len(first) < mostNear {
			first, seen[last] = append(first, name), true
		}
	}
	return first
}

// plainName is how names are compared: some services write 4.5 for 4-5.
func plainName(s string) string { return strings.ReplaceAll(strings.ToLower(s), ".", "-") }

func lastPart(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// distanceTo is how far a name is from a model's, however much of that is written.
func distanceTo(wrong, full string) int {
	_, bare, _ := strings.Cut(plainName(full), "/")
	last := lastPart(bare)
	return min(distance(wrong, bare), distance(wrong, last), distance(wrong, dated.ReplaceAllString(last, "")))
}

// meant asks whether one of the names was.
func meant(names []string) string {
	return "did you mean " + strings.Join(names, " or ") + "?"
}

// modelHint says what was probably meant by a name that no service has.
func modelHint(c *catalogue.Catalogue, name string) string {
	service, model, colon := strings.Cut(name, ":")
	if near := nearServices(c, service); colon && model != "" && len(near) == 1 && strings.EqualFold(near[0], service) {
		return meant([]string{near[0] + "/" + model})
	}
	service, _, _ = strings.Cut(name, "/")
	if _, known := c.Service(service); known {
		return "name a model of it: " + service + "/NAME; `kagent models " + service + "/` lists those that are known"
	}
	if near := nearModels(c.Models(), name); len(near) > 0 {
		return meant(near)
	}
	if near := nearServices(c, service); near != nil {
		for i := range near {
			near[i] += "/NAME"
		}
		return meant(near)
	}
	if some := modelsWith(c.Models(), name); len(some) > 0 {
		return meant(some) + " `kagent models " + name + "` lists all"
	}
	return "want " + modelForms
}

// nearServices returns the services that a misspelt name is most like, in
// whatever case it is written: one of that very name alone.
func nearServices(c *catalogue.Catalogue, wrong string) []string {
	called := map[string]string{} // by how it is compared
	for _, name := range serviceNames(c) {
		called[strings.ToLower(name)] = name
	}
	wrong = strings.ToLower(wrong)
	if name, known := called[wrong]; known {
		return []string{name}
	}
	near := nearest(wrong, sortedKeys(called))
	for i := range near {
		near[i] = called[near[i]]
	}
	return near
}

// serviceHint says which service was probably meant, or which model of another,
// else which services there are.
func serviceHint(c *catalogue.Catalogue, service, model string) string {
	names := serviceNames(c)
	near := nearServices(c, service)
	for i, name := range near {
		near[i] = name + "/" + model
	}
	switch {
	case near != nil:
		return meant(near)
	case service == "demo":
		return "write demo alone: it is one model"
	}
	if near := nearModels(c.Models(), service+"/"+model); len(near) > 0 {
		return meant(near)
	}
	return "known are " + strings.Join(names, ", ") + ", script:FILE, demo"
}

// notThere asks of a model that its service does not know for the one that was
// meant, "" where that is not known either.
func notThere(c *catalogue.Catalogue, service, model string) string {
	if _, known := c.Model(service + "/" + model); known {
		return ""
	}
	of := service
	if s, _ := c.Service(service); s.As != "" {
		of = s.As
	}
	its := slices.DeleteFunc(c.Models(), func(m catalogue.Model) bool { return !strings.HasPrefix(m.Name, of+"/") })
	near := nearModels(its, model)
	for i, name := range near {
		near[i] = service + strings.TrimPrefix(name, of)
	}
	if len(near) == 0 {
		return ""
	}
	return meant(near) + " "
}
