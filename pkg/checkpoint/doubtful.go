package checkpoint

import (
	"path/filepath"
	"strings"
)

// Doubtful returns why locks and flushes in dir may not be what the promises
// rest on, "" if nothing is known against it: it lies on a network file system,
// or in a folder that a program copies to other machines.
func Doubtful(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	at := abs // or the first directory above it that exists
	for !exists(at) && at != filepath.Dir(at) {
		at = filepath.Dir(at)
	}
	if name := networkFS(at); name != "" {
		return "it is on a network file system (" + name + "), whose locks and flushes may not hold"
	}
	for part := range strings.SplitSeq(filepath.ToSlash(abs), "/") {
		switch name, _, _ := strings.Cut(strings.ToLower(part), " - "); name {
		case "dropbox", "onedrive", "google drive", "googledrive", "icloud drive", "com~apple~clouddocs", "nextcloud", "syncthing", "box sync":
			return "it is in a folder that is synchronised (" + part + "): a copy that is made in the middle may come back"
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := OS{}.Lstat(path)
	return err == nil
}
