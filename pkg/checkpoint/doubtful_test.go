package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSynchronisedFoldersAreDoubtful(t *testing.T) {
	home := t.TempDir()
	for path, doubtful := range map[string]bool{
		"work/.kagent-sessions":                          false,
		"Dropbox/work/.kagent-sessions":                  true,
		"OneDrive - Some Company/x":                      true,
		"Library/Mobile Documents/com~apple~CloudDocs/x": true,
		"dropbox-clone/x":                                false,
		"Nextcloud":                                      true,
	} {
		if got := Doubts(filepath.Join(home, filepath.FromSlash(path))); (len(got) > 0) != doubtful {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestADirectoryThatAnybodyMayWriteToIsDoubtful(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Dropbox")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, doubts := range map[os.FileMode]int{0o700: 1, 0o775: 1, 0o777: 2, 0o777 | os.ModeSticky: 2, 0o702: 2} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		got := Doubts(dir)
		if len(got) != doubts || doubts == 2 && !strings.Contains(got[1], "chmod o-w") {
			t.Errorf("mode %v: %q", mode, got)
		}
	}
}
