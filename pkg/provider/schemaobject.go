package provider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// object is a JSON object whose fields keep their order: models write
// arguments in the order of the schema, and caches want the same bytes again.
type object []field

type field struct {
	name  string
	value json.RawMessage
}

// parseObject returns raw as an object; ok is false if it is none.
func parseObject(raw json.RawMessage) (o object, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		o = append(o, field{name.(string), value})
	}
	_, err := dec.Token()
	return o, err == nil
}

// raw is the reverse.
func (o object) raw() json.RawMessage {
	b := bytes.NewBufferString("{")
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encoded(f.name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encoded returns v, which is made of strings, as JSON.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}

// get returns the value of a field, nil if there is none.
func (o object) get(name string) json.RawMessage {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// set replaces or appends a field.
func (o *object) set(name, value string) {
	for i, f := range *o {
		if f.name == name {
			(*o)[i].value = json.RawMessage(value)
			return
		}
	}
	*o = append(*o, field{name, json.RawMessage(value)})
}

func (o *object) remove(name string) {
	*o = slices.DeleteFunc(*o, func(f field) bool { return f.name == name })
}

// texts returns the strings in a list, or the string itself.
func texts(raw json.RawMessage) []string {
	var list []string
	var one string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	if json.Unmarshal(raw, &one) == nil && len(raw) > 0 {
		return []string{one}
	}
	return nil
}

// subschemas replaces each schema directly below a schema by what f makes of
// it. The path of a property is its name, that of others the keyword.
func (o object) subschemas(f func(path string, s json.RawMessage) json.RawMessage) {
	for i, kw := range o {
		switch kw.name {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if named, ok := parseObject(kw.value); ok {
				for j := range named {
					named[j].value = f(named[j].name, named[j].value)
				}
				o[i].value = named.raw()
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			o[i].value = eachOf(kw.name, kw.value, f)
		case "items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
			"contains", "propertyNames", "not", "if", "then", "else":
			if len(kw.value) > 0 && kw.value[0] == '[' { // items of old drafts
				o[i].value = eachOf(kw.name, kw.value, f)
			} else {
				o[i].value = f(kw.name, kw.value)
			}
		}
	}
}

func eachOf(path string, raw json.RawMessage, f func(string, json.RawMessage) json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	b := bytes.NewBufferString("[")
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(f(path+"."+strconv.Itoa(i), s))
	}
	b.WriteByte(']')
	return b.Bytes()
}
