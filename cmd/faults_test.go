package cmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// strictModel refuses with 400 what strict services refuse: a history whose
// calls and results don't pair, ids that are missing or used twice, a second
// system prompt, blank messages. A user message "call ID ID" makes it call the
// shell once for each ID ("-" is an empty one); any other is answered with the
// system prompt and all that the user has said.
func strictModel(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []strictMessage `json:"messages"`
	}
	err := json.NewDecoder(r.Body).Decode(&req)
	if err == nil {
		err = strictHistory(req.Messages)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": err.Error()}})
		return
	}
	var system string
	var users []string
	results := 0
	for _, m := range req.Messages {
		switch m.Role {
		case "system":
			system = m.Content
		case "user":
			users = append(users, m.Content)
		case "tool":
			results++
		}
	}
	last := req.Messages[len(req.Messages)-1]
	delta := map[string]any{"content": system + " heard " + strings.Join(users, ", ")}
	if last.Role == "tool" {
		delta["content"] = fmt.Sprint("results: ", results)
	} else if ids, ok := strings.CutPrefix(last.Content, "call "); ok {
		var calls []any
		for i, id := range strings.Fields(ids) {
			args := fmt.Sprintf(`{"command":"echo '%s' >> ran"}`, id)
			if id == "kill" {
				args = `{"command":"echo kill >> ran; exec kill -9 $PPID"}`
			}
			calls = append(calls, map[string]any{
				"index": i, "id": strings.TrimPrefix(id, "-"),
				"function": map[string]string{"name": "shell", "arguments": args},
			})
		}
		delta = map[string]any{"tool_calls": calls}
	}
	b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": "stop"}}})
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", b)
}

type strictMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	ResultOf  string `json:"tool_call_id"`
	ToolCalls []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func strictHistory(messages []strictMessage) error {
	used := map[string]bool{}
	var open []string
	for i, m := range messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.ResultOf {
				return fmt.Errorf("message %d: a result of %q, want of %q", i, m.ResultOf, open)
			}
			open = open[1:]
			continue
		}
		switch {
		case len(open) > 0:
			return fmt.Errorf("message %d: calls %q have no results", i, open)
		case m.Role == "system" && i > 0:
			return fmt.Errorf("message %d: a second system prompt", i)
		case strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0:
			return fmt.Errorf("message %d is blank", i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || len(c.ID) > 40 || strings.ContainsAny(c.ID, "|: ") || used[c.ID] {
				return fmt.Errorf("message %d: bad or repeated call id %q", i, c.ID)
			}
			used[c.ID] = true
			open = append(open, c.ID)
		}
	}
	return nil
}
