package userfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML decodes a text into a struct or a map. Nothing at all is no error, but a
// second document is: nobody would see what it says. Strict refuses fields that the
// struct does not have.
func YAML(data []byte, into any, strict bool) error {
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return Syntax(err)
	}
	if err := alone(d); err != nil || len(doc.Content) == 0 {
		return err
	}
	return Node(doc.Content[0], into, "", strict)
}

// alone sees to it that nothing follows the first document.
func alone(d *yaml.Decoder) error {
	for {
		var next yaml.Node
		switch err := d.Decode(&next); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return Syntax(err)
		case len(next.Content) > 0 && next.Content[0].ShortTag() != "!!null":
			return fault(next.Content[0], "", "a second document begins behind a ---; the file has to be one document, leave the --- out")
		}
	}
}

// Node decodes a part of a text, which path names.
func Node(n *yaml.Node, into any, path string, strict bool) error {
	c := &checker{strict: strict, left: mostNodes}
	if err := c.check(n, reflect.TypeOf(into).Elem(), path); err != nil {
		return err
	}
	if err := n.Decode(into); err != nil { // what the check does not know of
		return Syntax(err)
	}
	return nil
}

// Syntax words an error of the YAML reader for people.
func Syntax(err error) error {
	text := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " ")
	line := ""
	if strings.HasPrefix(text, "line ") {
		if before, after, ok := strings.Cut(text, ": "); ok {
			line, text = before+": ", after
		}
	}
	for words, plain := range map[string]string{
		"mapping values are not allowed in this context": "a second colon in a line; put the text into quotes",
		"cannot start any token":                         "a character that no value begins with: a tab at the start of a line, or one of @, ` and % without quotes",
		"did not find expected node content":             "a value or a closing bracket is missing",
		"did not find expected key":                      "something stands where a name and a colon are wanted; is it indented like the others?",
		"did not find expected '-' indicator":            "something stands where the next item of a list is wanted; is it indented like the others?",
		"could not find expected ':'":                    "a name without a colon",
		"UTF-8":                                          "it is not UTF-8 text",
		"control characters are not allowed":             "it holds control characters",
		"cannot unmarshal":                               "a value is not of the form that is wanted",
		"found unexpected end of stream":                 "a closing quote is missing",
		"unknown anchor":                                 "a * that names nothing; put the text into quotes",
		"excessive aliasing":                             "aliases repeat too much of it",
	} {
		if strings.Contains(text, words) {
			text = plain
			break
		}
	}
	return errors.New(line + text)
}

// fault says where something is wrong, and what.
func fault(n *yaml.Node, path, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	return fmt.Errorf("line %d: %s", n.Line, text)
}
