package checkpoint

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnArtifactIsOpenedByTheBeginningOfItsHash(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	ref := kept(t, j, "the text").Ref
	check(t, j.Close())
	j, _ = reopen(t, s, "s")
	defer j.Close()
	dir, fake := j.artifacts.dir, func(first string) string { return first + strings.Repeat("0", 63) }
	other := "a"
	if ref[0] == 'a' {
		other = "b"
	}
	check(t, os.Symlink(filepath.Join(dir, ref), filepath.Join(dir, fake(other))))
	write(t, filepath.Join(dir, ref[:20]), []byte("no artifact"))
	for _, given := range []string{ref, ref[:16], ref[:1]} {
		r, size, err := j.Artifacts().Open(given)
		check(t, err)
		if b, err := io.ReadAll(r); string(b) != "the text" || size != 8 || err != nil {
			t.Errorf("%s: %q of %d, %v", given, b, size, err)
		}
		check(t, r.Close())
	}
	write(t, filepath.Join(dir, ref[:1]+strings.Repeat("f", 63)), nil)
	for given, want := range map[string]string{
		"":                     "a reference is",
		"../events.jsonl":      "a reference is",
		strings.ToUpper("ABC"): "a reference is",
		ref + "0":              "no such artifact",
		fake("0")[:40] + "1":   "no such artifact",
		fake(other):            "symbolic link",
		ref[:1]:                "more than one",
	} {
		if _, _, err := j.Artifacts().Open(given); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%q: error %v, want %s", given, err, want)
		}
	}
	check(t, os.Remove(filepath.Join(dir, ref)))
	if _, _, err := j.Artifacts().Open(ref); !errors.Is(err, errNoArtifact) {
		t.Errorf("removed: %v", err)
	}
}

// A link in the place of the directory leads nowhere.
func TestArtifactsFollowNoLink(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "tmp-0"), []byte("precious"))
	check(t, os.Symlink(elsewhere, j.artifacts.dir))
	if _, err := keep(j, "text"); !errors.Is(err, errNotDirectory) {
		t.Errorf("error %v", err)
	}
	check(t, j.Close())
	j, _ = reopen(t, s, "s")
	defer j.Close()
	if _, _, err := j.Artifacts().Open("ab"); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("error %v", err)
	}
	if b := slurp(t, filepath.Join(elsewhere, "tmp-0")); string(b) != "precious" {
		t.Errorf("it holds %q", b)
	}
}

func TestRemoveTakesTheArtifactsToo(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	kept(t, j, "text")
	check(t, j.Commit())
	check(t, j.Close())
	check(t, s.Remove("s", false))
	gone(t, s, "s")
}
