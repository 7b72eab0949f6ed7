package providertest

import "testing"

// GoldenStream holds a stream that says something of everything against
// testdata/stream.golden: what the adapter is tested with is what the official
// SDKs' decoders, in internal/wire/oracle, read alike.
func GoldenStream(t *testing.T, a Adapter, update bool) {
	t.Helper()
	golden(t, "stream", update, a.Wire.frame(a.Wire.Answer(example())))
}
