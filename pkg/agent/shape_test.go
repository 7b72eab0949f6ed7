package agent_test

import (
	"encoding/json"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

func TestTextsInAnAnswersDataStayAsTheyWere(t *testing.T) {
	for said, want := range map[string]string{
		`{'note': 'Status: None of these: True story', 'ok': True, 'no': None, 'l': [False, True]}`: `{"note": "Status: None of these: True story", "ok": true, "no": null, "l": [false, true]}`,
		"```json\n{\"html\": \"wrap it in <think>\"}\n```":                                          `{"html": "wrap it in <think>"}`,
		`{"html": "<think>", "b": "</think>"}`:                                                      `{"html": "<think>", "b": "</think>"}`,
		"<think>{\"a\": 1}</think>{\"a\": 2}":                                                       `{"a": 2}`,
		`{"a": "x \ud83d y", "b": "\ud83d\ude00"}`:                                                  `{"a": "x \ufffd y", "b": "\ud83d\ude00"}`,
		"Here: {\"a\": True, \"b\": 9007199254740993}":                                              `{"a": true, "b": 9007199254740993}`,
		"```\n```": "",
	} {
		r := agentRig(t, "react", cast{"": {says(said)}})
		r.set(func(s *session.Settings) { s.OutputSchema = json.RawMessage(`{"type": "object"}`) })
		_, _ = r.Run(t.Context(), "")
		if got, _ := agent.Data(r.log.state); string(got) != want {
			t.Errorf("of %s came %s, want %s", said, got, want)
		}
	}
}
