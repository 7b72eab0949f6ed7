package providertest

import (
	"os"
	"testing"
)

// GoldenStream holds a stream that says something of everything against
// testdata/stream.golden: what the adapter is tested with is what the official
// SDKs' decoders, in internal/wire/oracle, read alike.
func GoldenStream(t *testing.T, a Adapter, update bool) {
	const file = "testdata/stream.golden"
	stream := a.Wire.frame(a.Wire.Answer(example()))
	if update {
		if err := os.WriteFile(file, []byte(stream), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if stream != string(want) {
		t.Errorf("the stream is not that of %s; -update writes it, and make oracle asks the SDKs:\n%s", file, stream)
	}
}
