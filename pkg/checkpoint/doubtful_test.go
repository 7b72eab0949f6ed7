package checkpoint

import (
	"path/filepath"
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
		if got := Doubtful(filepath.Join(home, filepath.FromSlash(path))); (got != "") != doubtful {
			t.Errorf("%s: %q", path, got)
		}
	}
}
