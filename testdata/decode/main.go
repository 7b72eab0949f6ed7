// Decode reads a log and keeps what encoding/json makes of each line, decoded
// once: what any program has to do that goes on with a session.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"time"

	"kagent/pkg/session"
)

func main() {
	if err := decode(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func decode(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	types := map[string]reflect.Type{}
	var kept []any
	for br := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := br.ReadSlice('\n')
		if err == io.EOF {
			runtime.KeepAlive(kept)
			return nil
		}
		if err != nil {
			return err
		}
		_, rest, _ := bytes.Cut(line, []byte(`"type":"`))
		kind, _, _ := bytes.Cut(rest, []byte(`"`))
		t, known := types[string(kind)]
		if !known {
			var e session.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return err
			}
			t = lineOf(e.Data)
			types[string(kind)] = t
		}
		v := reflect.New(t).Interface()
		if err := json.Unmarshal(line, v); err != nil {
			return err
		}
		kept = append(kept, v)
	}
}

// lineOf is the type of a line with such data.
func lineOf(d session.Data) reflect.Type {
	field := func(name string, v any) reflect.StructField {
		return reflect.StructField{Name: name, Type: reflect.TypeOf(v), Tag: reflect.StructTag(`json:"` + strings.ToLower(name) + `"`)}
	}
	return reflect.StructOf([]reflect.StructField{
		field("Crc", ""), field("Prev", ""), field("Dur", int64(0)), field("Seq", int64(0)), field("Epoch", int64(0)),
		field("Time", time.Time{}), field("Scope", ""), field("Type", ""), field("Data", d),
	})
}
