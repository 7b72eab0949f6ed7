package checkpoint

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTryingADirectoryOutLeavesNothingBehind(t *testing.T) {
	home := t.TempDir()
	there := filepath.Join(home, "there")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{there, filepath.Join(home, "not", "yet")} {
		if _, err := TryOut(dir, time.Now); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{home, there} {
		entries, err := os.ReadDir(dir)
		if want := map[string]int{home: 1, there: 0}[dir]; err != nil || len(entries) != want {
			t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
}

func TestAPlaceThatTakesNoSessionIsFoundOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, "/proc/nowhere"} {
		if _, err := TryOut(dir, time.Now); err == nil {
			t.Errorf("%s takes sessions", dir)
		}
	}
}

func TestTheClockOfTheDiskIsCompared(t *testing.T) {
	past := func() time.Time { return time.Now().Add(-time.Hour) }
	ahead, err := TryOut(t.TempDir(), past)
	if err != nil || ahead < 59*time.Minute || ahead > 61*time.Minute {
		t.Errorf("ahead by %s, %v", ahead, err)
	}
}

func TestTheRoomOfADirectoryThatIsNotYetThereIsTold(t *testing.T) {
	home := t.TempDir()
	here, known := RoomIn(home)
	there, alsoKnown := RoomIn(filepath.Join(home, "not", "yet"))
	if known != alsoKnown || known && (here.Bytes <= 0 || there.Bytes <= 0) {
		t.Errorf("%v %v, %v %v", here, known, there, alsoKnown)
	}
	if FileSystem(home) != FileSystem(filepath.Join(home, "not", "yet")) {
		t.Error("the file system is another one")
	}
}
