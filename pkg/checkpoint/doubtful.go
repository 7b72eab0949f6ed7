package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Doubts returns why sessions in dir may not be what the promises rest on: it
// lies on a network file system or in a folder that a program copies to other
// machines, or others may write to it.
func Doubts(dir string) []string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	var why []string
	if name, network := fileSystem(present(abs)); network {
		why = append(why, "it is on a network file system ("+name+"), whose locks and flushes may not hold")
	} else if part := synchronised(abs); part != "" {
		why = append(why, "it is in a folder that is synchronised ("+part+"): a copy that is made in the middle may come back")
	}
	if w := exposed(abs); w != "" {
		why = append(why, w)
	}
	return why
}

// present is path, or the first directory above it that exists.
func present(path string) string {
	for !exists(path) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
	}
	return path
}

// synchronised returns the part of a path that names a synchronised folder.
func synchronised(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		switch name, _, _ := strings.Cut(strings.ToLower(part), " - "); name {
		case "dropbox", "onedrive", "google drive", "googledrive", "icloud drive", "com~apple~clouddocs", "nextcloud", "syncthing", "box sync":
			return part
		}
	}
	return ""
}

// exposed says that anybody may put files into a directory that was there before
// us. A group may have been given it on purpose.
func exposed(dir string) string {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o002 == 0 {
		return ""
	}
	return fmt.Sprintf("its mode is %04o: anybody may put sessions there or take them away; chmod o-w it", info.Mode().Perm())
}

func exists(path string) bool {
	_, err := OS{}.Lstat(path)
	return err == nil
}
