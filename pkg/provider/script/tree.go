package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"kagent/pkg/userfile"
)

// tree parses JSON or YAML into the same kind of tree. JSON has a reader of its
// own, because YAML knows neither its surrogate pairs nor its tabs.
func tree(name string, data []byte) (*yaml.Node, error) {
	start := bytes.TrimLeft(data, " \t\r\n")
	if isJSON(name) || bytes.HasPrefix(start, []byte("{")) && json.Valid(data) {
		return jsonTree(data)
	}
	return yamlTree(data)
}

func yamlTree(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, errors.New("empty file")
	}
	if err == nil {
		err = dec.Decode(&more)
		if err == nil {
			return nil, faultAt(&more, "a second document: a script is one")
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, userfile.Syntax(err)
	}
	return doc.Content[0], nil
}

func jsonTree(data []byte) (*yaml.Node, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil { // bounds the nesting too
		return nil, userfile.JSON(data, err)
	}
	p := &jsonParser{dec: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	p.dec.UseNumber()
	return p.value()
}

// jsonParser builds nodes out of tokens and counts lines.
type jsonParser struct {
	dec  *json.Decoder
	data []byte
	at   int64
	line int
}

func (p *jsonParser) token() (json.Token, error) {
	tok, err := p.dec.Token()
	end := p.dec.InputOffset()
	p.line += bytes.Count(p.data[p.at:end], []byte("\n"))
	p.at = end
	return tok, err
}

func (p *jsonParser) value() (*yaml.Node, error) {
	tok, err := p.token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: p.line}
	switch v := tok.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if v == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		return n, p.members(n)
	case string:
		n.Tag, n.Value = "!!str", v
	case json.Number:
		n.Tag, n.Value = "!!int", v.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(v)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// members reads what is inside a bracket and the closing one. The keys of an
// object come as values do.
func (p *jsonParser) members(n *yaml.Node) error {
	for p.dec.More() {
		c, err := p.value()
		if err != nil {
			return err
		}
		n.Content = append(n.Content, c)
	}
	_, err := p.token()
	return err
}
