package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// kill -9 of an export left x.kagent.123.tmp for ever.
func TestTheNextExportRemovesWhatAKilledOneLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.kagent")
	left, err := unfinished(path)
	if err != nil {
		t.Fatal(err)
	}
	left.Close() // as its process ends
	lives, err := unfinished(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lives.Close()
	others := []string{path, path + unfinishedMark + "1.txt", filepath.Join(dir, "y.kagent"+unfinishedMark+"1")}
	for _, name := range others {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweepUnfinished(path)
	if _, err := os.Lstat(left.Name()); err == nil {
		t.Error("it is still there")
	}
	for _, name := range append(others, lives.Name()) {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("it was removed: %v", err)
		}
	}
}
