package providertest

import (
	"os"
	"path/filepath"
	"testing"
)

// Shared returns a directory of the collection of recordings and fakes that is
// kept outside of the repository: in the directory that KAGENT_SHARED names,
// else in shared beside the repository. Without it the test is skipped.
func Shared(t testing.TB, dir string) string {
	t.Helper()
	root := os.Getenv("KAGENT_SHARED")
	if root == "" {
		root = filepath.Join(repository(t), "..", "shared")
	}
	path := filepath.Join(root, filepath.FromSlash(dir))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s of the shared test collection; set KAGENT_SHARED to its directory", dir)
	}
	return path
}

// repository returns the directory above the test that has the go.mod.
func repository(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the test runs outside of a module")
		}
		dir = up
	}
}
