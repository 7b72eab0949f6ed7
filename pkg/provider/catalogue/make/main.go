// Make writes models.json from the files in source.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Of the source's fields these are used. A cached "in" is what is written to a
// cache, a cached "out" what is read from it; all in dollars per million tokens.
type service struct {
	ID     string `json:"id"`
	Models []struct {
		ID         string  `json:"id"`
		In         float64 `json:"cost_per_1m_in"`
		Out        float64 `json:"cost_per_1m_out"`
		CacheWrite float64 `json:"cost_per_1m_in_cached"`
		CacheRead  float64 `json:"cost_per_1m_out_cached"`
		Window     int     `json:"context_window"`
		MaxOutput  int     `json:"default_max_tokens"`
	} `json:"models"`
}

const (
	source = "charm.land/catwalk v0.52.86"
	date   = "2026-10-28"
)

func main() {
	out, err := models("source")
	if err == nil {
		err = os.WriteFile("models.json", out, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// models has a line for each model: name, window, output limit, and the prices
// of input, output, reads from and writes to a cache.
func models(dir string) ([]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var s service
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, m := range s.Models {
			line, err := json.Marshal([]any{s.ID + "/" + m.ID, m.Window, m.MaxOutput, m.In, m.Out, m.CacheRead, m.CacheWrite})
			if err != nil {
				return nil, err
			}
			lines = append(lines, string(line))
		}
	}
	slices.Sort(lines)
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"source\": %q, \"date\": %q, \"models\": [\n%s\n]}\n", source, date, strings.Join(slices.Compact(lines), ",\n"))
	return b.Bytes(), nil
}
