package checkpoint

import (
	"bytes"
	"io"
	"testing"
)

// What can be no line is not held in memory, however long it is.
func TestOfALongLineThatIsNoneOnlyTheEndIsKept(t *testing.T) {
	const length = 64 << 20
	lines, _ := logOf(t, 0, 0)
	good := lines[0]
	for name, filler := range map[string]byte{"NULs": 0, "text": 'x', "brackets": '['} {
		t.Run(name, func(t *testing.T) {
			long := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{filler}, length)), bytes.NewReader(good))
			line, n, err := readLine(newReaderAt(long))
			if err != nil || n != int64(length+len(good)) {
				t.Fatalf("read %d bytes, %v", n, err)
			}
			if cap(line) > 8*badLine {
				t.Errorf("%d bytes are held", cap(line))
			}
			if _, err := decodeLine(line); err == nil {
				t.Error("it is taken for a line")
			}
			if rec := lastIn(line); rec.Seq != 1 {
				t.Errorf("the good line at its end is not found: %+v", rec)
			}
		})
	}
}
