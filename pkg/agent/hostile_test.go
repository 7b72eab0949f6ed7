package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"kagent/pkg/session"
)

// A list of a hundred thousand needs would be refused by whoever reads the log.
func TestANeedThatIsNamedTwiceIsOne(t *testing.T) {
	needs := strings.Repeat(`"a",`, 100_000) + `"a"`
	r := agentRig(t, "orchestrator", cast{
		"split-1": {calls("set_graph", fmt.Sprintf(`{"nodes":[{"id":"a","task":"x"},{"id":"b","task":"y","needs":[%s]}],"edges":[{"from":"a","to":"b"}]}`, needs))},
		"node/*":  {says("done")}, "join-1": {says("all of it")},
	})
	r.run("", session.Completed, "")
	checkList(t, "what b needs", r.nodes()["b"].Needs, "a")
}

// What was wrong may repeat what the model said, which may be of any length.
func TestWhatWasWrongIsSaidInFewWords(t *testing.T) {
	long := strings.Repeat("长", 1<<20)
	for _, wrong := range []string{
		fmt.Sprintf(`{"nodes":[{"id":"%s","task":"x"}]}`, long),
		fmt.Sprintf(`{"nodes":[{"id":"a","task":"x","needs":["%s"]}]}`, long),
		fmt.Sprintf(`{"nodes":[{"id":"a","task":"x","profile":"%s"}]}`, long),
		fmt.Sprintf(`{"nodes":[{"id":"a","task":"x"}],"edges":[{"from":"a","to":"%s"}]}`, long),
	} {
		r := agentRig(t, "orchestrator", cast{
			"split-1": {calls("set_graph", wrong), graph("set_graph", "good")}, "node/good": {says("x")}, "join-1": {says("done")},
		})
		r.run("", session.Completed, "")
		if n := len(lastSaid(r.asks("split-1")[1])); n > 1000 {
			t.Errorf("what was wrong is said in %d bytes", n)
		}
	}
}
