package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// linkLimit is how many links are followed, as many as Linux does.
const linkLimit = 40

// checkName refuses a file to write that is a stream, or what a stream goes to.
// To rename over /dev/stdout is to replace the file that it was redirected to,
// with all that it held. A pipe behind another descriptor is what a shell makes
// of >(COMMAND), and is written to.
func checkName(what, path string) error {
	if path == "-" {
		return usageErrorf("leave it out: what belongs on stdout is printed there anyway", "%s -: stdout is no file", what)
	}
	n, ok := descriptorOf(path)
	if !ok {
		return nil
	}
	info, err := os.Stat(path)
	if n <= 2 || err == nil && info.Mode().IsRegular() {
		return usageErrorf("name a file of its own, or leave it out: what belongs on stdout and stderr goes there anyway",
			"%s %s is an open descriptor, which the shell redirects", what, path)
	}
	return nil
}

// descriptorOf follows the links of a path up to one that stands for an open
// descriptor, like /dev/stdout, /dev/fd/3 or /proc/self/fd/3.
func descriptorOf(path string) (int, bool) {
	fds := regexp.MustCompile(`^(/dev|/proc/.+)/fd$`)
	for range linkLimit {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return 0, false
		}
		if n, err := strconv.Atoi(filepath.Base(path)); err == nil && fds.MatchString(dir) {
			return n, true
		}
		next, err := os.Readlink(path)
		if err != nil {
			return 0, false
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		path = next
	}
	return 0, false
}
