package cmd

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// An older version took schemas that this one does not: that costs no request.
func TestAStoredSchemaThatIsNoLongerTakenIsRefusedBeforeAnyRequest(t *testing.T) {
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer service.Close()
	for _, schema := range []string{`true`, `{"$schema":"http://json-schema.org/draft-06/schema#","type":"object"}`} {
		dir := t.TempDir()
		j, err := checkpoint.NewStore(filepath.Join(dir, ".kagent-sessions"), checkpoint.Options{}).Create("s", session.Created{Settings: session.Settings{
			Agent: "react", Workdir: dir, Model: "openai-compatible/m", BaseURL: service.URL, OutputSchema: json.RawMessage(schema),
		}})
		if err != nil {
			t.Fatal(err)
		}
		j.Close()
		c, out := kagentIn(t, dir, "resume", "s", "-q", "go")
		c.Run()
		if code := c.ProcessState.ExitCode(); code != exitUsage || asked.Load() > 0 || !strings.Contains(out.String(), "output schema of session s: ") {
			t.Errorf("%s: exit %d, %d requests: %s", schema, code, asked.Load(), out)
		}
		c, out = kagentIn(t, dir, "resume", "s", "-q", "-m", "demo", "--output-schema", "", "go")
		if err := c.Run(); err != nil {
			t.Errorf("%s, taken back: %v: %s", schema, err, out)
		}
	}
}
