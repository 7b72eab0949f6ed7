package checkpoint

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/session"
)

// thrifty counts the bytes that are asked for at once.
type thrifty struct {
	FS
	most int
}

type thriftyFile struct {
	File
	fs *thrifty
}

func (f *thrifty) Open(name string, flag int, perm fs.FileMode) (File, error) {
	file, err := f.FS.Open(name, flag, perm)
	return thriftyFile{file, f}, err
}

func (f thriftyFile) ReadAt(b []byte, off int64) (int, error) {
	f.fs.most = max(f.fs.most, len(b))
	return f.File.ReadAt(b, off)
}

// Files of any size, most of them a hole: bounded memory and no crash.
func TestSizeBombs(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	finished(t, s, "other")
	finished(t, s, "s")
	if err := os.Truncate(s.Path("s"), 1<<40); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	fsys := &thrifty{FS: OS{}}
	s.fs = fsys
	list, err := s.List()
	if check(t, err); len(list) != 2 || list[0].Status != session.Completed || list[1].Status != session.Completed {
		t.Errorf("listed %+v", list)
	}
	report, err := s.Verify("s")
	if check(t, err); !report.Damaged() || !strings.Contains(fmt.Sprint(report.Problems), "too large") {
		t.Errorf("verified %+v", report)
	}
	j, rec, err := s.Open("s")
	if check(t, err); len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0], "too large") {
		t.Errorf("warnings %q", rec.Warnings)
	}
	check(t, j.Close())
	if limit := checkpointLimit(1 << 20); int64(fsys.most) > limit {
		t.Errorf("%d bytes were read at once", fsys.most)
	}

	fsys.most = 0
	log := filepath.Join(dir, "other", "events.jsonl")
	end := int64(len(slurp(t, log)))
	check(t, os.Truncate(log, end+20<<20)) // a torn end
	j, rec, err = s.Open("other")
	check(t, err)
	check(t, j.Close())
	info, err := os.Stat(filepath.Join(dir, "other", rec.Torn.File))
	if check(t, err); info.Size() != 20<<20 || rec.Torn.Offset != end || fsys.most > 64<<10 {
		t.Errorf("set aside %d bytes of %+v, %d read at once", info.Size(), rec.Torn, fsys.most)
	}
}

// What is left out of a long run of rubbish moves no event that follows it.
func TestASurveyKnowsWhereItIsBehindRubbish(t *testing.T) {
	lines, _ := logOf(t, 0, 0, 0)
	for _, length := range []int{100, 3 * badLine} {
		rubbish := bytes.Repeat([]byte{'x'}, length)
		log := slices.Concat(lines[0], rubbish, lines[1], rubbish, []byte("\n"), lines[2])
		seen, err := look(bytes.NewReader(log), func(record) error { return nil })
		check(t, err)
		if len(seen.finds) != 3 || seen.size != int64(len(log)) {
			t.Fatalf("%d events in %d of %d bytes", len(seen.finds), seen.size, len(log))
		}
		for _, f := range seen.finds {
			if rec, err := decodeText(log[f.at:][:f.size]); err != nil || rec.Seq != f.seq {
				t.Errorf("at byte %d: %v", f.at, err)
			}
		}
	}
}
