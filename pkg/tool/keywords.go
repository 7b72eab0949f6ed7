package tool

// holds says how a keyword holds schemas.
type holds int

const (
	noSchema   holds = iota
	someSchema       // one, or a list of them
	namedSchemas
	keptSchemas // named ones, for references alone
)

// keywordHolds says how a keyword holds schemas, and whether these are for values
// inside of the one that its own schema is for.
func keywordHolds(keyword string) (h holds, inside bool) {
	switch keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
		return someSchema, false
	case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains",
		"additionalProperties", "unevaluatedProperties", "propertyNames":
		return someSchema, true
	case "dependentSchemas", "dependencies":
		return namedSchemas, false
	case "properties", "patternProperties":
		return namedSchemas, true
	case "$defs", "definitions":
		return keptSchemas, false
	}
	return noSchema, false
}
