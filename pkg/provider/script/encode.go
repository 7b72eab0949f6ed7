package script

import (
	"bytes"
	"encoding/json"
	"io"

	"go.yaml.in/yaml/v3"
)

// writer is what a bytes.Buffer and a strings.Builder have in common.
type writer interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

// encode writes a tree as compact JSON, fields and numbers as in the file.
func encode(b writer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(n.Content[i].Value))
			b.WriteByte(':')
			if err := encode(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encode(b, c); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		return encodeScalar(b, n)
	}
	return nil
}

func encodeScalar(b writer, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		b.WriteString("null")
	case "!!bool", "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			b.WriteString(n.Value)
			return nil
		}
		var v any // 0x1F, 1_000, True
		if err := n.Decode(&v); err != nil {
			return faultAt(n, "%.40q: %v", n.Value, err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return faultAt(n, "%.40q can't be written in JSON", n.Value)
		}
		b.Write(text)
	default:
		b.WriteString(quote(n.Value))
	}
	return nil
}

// quote returns s as a JSON string, without the escapes meant for HTML.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
