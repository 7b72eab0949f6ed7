package wire

// What the echo says in each protocol: a thought in two pieces with the key cut in
// two, a signature of it, two calls with the key in all they have; then an answer
// of JSON, with the key cut in two as well. What else there is to say holds the
// key too.

type object = map[string]any

type list = []any

type speech struct {
	lines  bool // a line of JSON each, and no events
	calls  func() []map[string]any
	answer func() []map[string]any
}

// sealed stands for what a vendor has signed: it never goes back beside a thought
// that was changed.
const sealed = "SEALED-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const (
	firstHalf  = `hunter2+"`
	secondHalf = `odd"/key&<2>%41`
	quotedHalf = `hunter2+\"odd\"/key&<2>%41`
	written    = `{"path":"key.txt","content":"the key is ` + quotedHalf + `"}`
)

func writtenArgs() object { return object{"path": "key.txt", "content": "the key is " + echoed} }

func echoProtocols() map[string]speech {
	return map[string]speech{
		"chat":      {false, chatCalls, chatAnswer},
		"responses": {false, responsesCalls, responsesAnswer},
		"anthropic": {false, anthropicCalls, anthropicAnswer},
		"gemini":    {false, geminiCalls, geminiAnswer},
		"ollama":    {true, ollamaCalls, ollamaAnswer},
	}
}

func chatChunk(delta object, finish any) object {
	return object{
		"id": echoed, "object": echoed, "model": echoed, "system_fingerprint": echoed, "service_tier": echoed,
		"choices": list{object{"index": 0, "delta": delta, "finish_reason": finish, "native_finish_reason": echoed}},
		"usage":   object{"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10, echoed: echoed, "completion_tokens_details": object{echoed: 1}},
	}
}

func chatCalls() []map[string]any {
	call := func(i int, name, args string) object {
		return object{"index": i, "id": echoed, "type": "function", "function": object{"name": name, "arguments": args}}
	}
	return []object{
		chatChunk(object{"role": "assistant", "reasoning_content": "hm " + firstHalf}, nil),
		chatChunk(object{"reasoning_content": secondHalf + " it is"}, nil),
		chatChunk(object{"content": "said " + firstHalf}, nil),
		chatChunk(object{"content": secondHalf + "."}, nil),
		chatChunk(object{"tool_calls": list{call(0, "write_file", written[:45])}}, nil),
		chatChunk(object{"tool_calls": list{object{"index": 0, "function": object{"arguments": written[45:]}}}}, nil),
		chatChunk(object{"tool_calls": list{call(1, "read_file", `{"path":"`+quotedHalf+`"}`), call(2, echoed, `{}`)}}, nil),
		chatChunk(object{}, "tool_calls"),
	}
}

func chatAnswer() []map[string]any {
	return []object{
		chatChunk(object{"role": "assistant", "content": `{"key":"hunter2`}, nil),
		chatChunk(object{"content": quotedHalf[7:] + `"}`}, nil),
		chatChunk(object{"content": ""}, "stop"),
	}
}

func responsesDone(items ...any) object {
	return object{"type": "response.completed", "response": object{
		"id": echoed, "object": echoed, "model": echoed, "status": "completed", "output": items, "service_tier": echoed,
		"usage": object{"input_tokens": 5, "output_tokens": 5, "total_tokens": 10, echoed: 1},
	}}
}

func responsesCalls() []map[string]any {
	thought := object{
		"type": "reasoning", "id": "rs_" + echoed, "encrypted_content": sealed,
		"summary": list{object{"type": "summary_text", "text": "hm " + echoed + " it is"}},
	}
	write := object{"type": "function_call", "id": "fc_1", "call_id": echoed, "name": "write_file", "arguments": written, "status": "completed"}
	read := object{"type": "function_call", "id": echoed, "call_id": echoed, "name": echoed, "arguments": "{}", "status": "completed"}
	return []object{
		{"type": "response.created", "response": object{"id": echoed, "model": echoed}},
		{"type": "response.output_item.added", "output_index": 0, "item": object{"type": "reasoning", "id": "rs_" + echoed, "summary": list{}}},
		{"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "hm " + firstHalf},
		{"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": secondHalf + " it is"},
		{"type": "response.output_item.done", "output_index": 0, "item": thought},
		{"type": "response.output_item.done", "output_index": 1, "item": write},
		{"type": "response.output_item.done", "output_index": 2, "item": read},
		responsesDone(thought, write, read),
	}
}

func responsesAnswer() []map[string]any {
	text := `{"key":"` + quotedHalf + `"}`
	item := object{"type": "message", "id": "msg_" + echoed, "role": "assistant", "status": "completed", "content": list{object{"type": "output_text", "text": text}}}
	return []object{
		{"type": "response.output_item.added", "output_index": 0, "item": object{"type": "message", "id": "msg_" + echoed, "role": "assistant", "content": list{}}},
		{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text[:15]},
		{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text[15:]},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		responsesDone(item),
	}
}

func anthropicStart() object {
	return object{"type": "message_start", "message": object{
		"id": echoed, "type": "message", "role": "assistant", "model": echoed, "content": list{},
		"usage": object{"input_tokens": 5, "output_tokens": 1, "service_tier": echoed, echoed: 1},
	}}
}

func anthropicEnd(reason string) []map[string]any {
	return []object{
		{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": echoed}, "usage": object{"output_tokens": 5}},
		{"type": "message_stop"},
	}
}

func anthropicBlock(i int, block object, deltas ...object) []map[string]any {
	all := []object{{"type": "content_block_start", "index": i, "content_block": block}}
	for _, d := range deltas {
		all = append(all, object{"type": "content_block_delta", "index": i, "delta": d})
	}
	return append(all, object{"type": "content_block_stop", "index": i})
}

func anthropicCalls() []map[string]any {
	json := func(part string) object { return object{"type": "input_json_delta", "partial_json": part} }
	all := []object{anthropicStart()}
	for _, block := range [][]object{
		anthropicBlock(0, object{"type": "thinking", "thinking": "", "signature": ""},
			object{"type": "thinking_delta", "thinking": "hm " + firstHalf}, object{"type": "thinking_delta", "thinking": secondHalf + " it is"},
			object{"type": "signature_delta", "signature": sealed}),
		anthropicBlock(1, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "said " + firstHalf}, object{"type": "text_delta", "text": secondHalf}),
		anthropicBlock(2, object{"type": "tool_use", "id": echoed, "name": "write_file", "input": object{}}, json(written[:45]), json(written[45:])),
		anthropicBlock(3, object{"type": "tool_use", "id": echoed, "name": echoed, "input": object{}}, json("{}")),
		anthropicEnd("tool_use"),
	} {
		all = append(all, block...)
	}
	return all
}

func anthropicAnswer() []map[string]any {
	text := `{"key":"` + quotedHalf + `"}`
	all := append([]object{anthropicStart()}, anthropicBlock(0, object{"type": "text", "text": ""},
		object{"type": "text_delta", "text": text[:15]}, object{"type": "text_delta", "text": text[15:]})...)
	return append(all, anthropicEnd("end_turn")...)
}

func geminiChunk(finish any, parts ...any) object {
	return object{
		"candidates":    list{object{"content": object{"role": "model", "parts": parts}, "finishReason": finish, "finishMessage": echoed, "index": 0}},
		"modelVersion":  echoed,
		"responseId":    echoed,
		"usageMetadata": object{"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10, echoed: 1},
	}
}

func geminiCalls() []map[string]any {
	return []object{
		geminiChunk(nil, object{"text": "hm " + firstHalf, "thought": true}),
		geminiChunk(nil, object{"text": secondHalf + " it is", "thought": true, "thoughtSignature": sealed}),
		geminiChunk(nil, object{"text": "said " + firstHalf}),
		geminiChunk(nil, object{"text": secondHalf}),
		geminiChunk(nil, object{"functionCall": object{"id": echoed, "name": "write_file", "args": writtenArgs()}, "thoughtSignature": sealed}),
		geminiChunk("STOP", object{"functionCall": object{"id": echoed, "name": echoed, "args": object{}}}),
	}
}

func geminiAnswer() []map[string]any {
	text := `{"key":"` + quotedHalf + `"}`
	return []object{geminiChunk(nil, object{"text": text[:15]}), geminiChunk("STOP", object{"text": text[15:], "thoughtSignature": sealed})}
}

func ollamaLine(m object, done bool) object {
	m["role"] = "assistant"
	out := object{"model": echoed, "created_at": echoed, "remote_host": echoed, "message": m, "done": done}
	if done {
		out["done_reason"], out["prompt_eval_count"], out["eval_count"] = "stop", 5, 5
	}
	return out
}

func ollamaCalls() []map[string]any {
	return []object{
		ollamaLine(object{"thinking": "hm " + firstHalf}, false),
		ollamaLine(object{"thinking": secondHalf + " it is"}, false),
		ollamaLine(object{"content": "said " + firstHalf}, false),
		ollamaLine(object{"content": secondHalf}, false),
		ollamaLine(object{"tool_calls": list{
			object{"id": echoed, "function": object{"name": "write_file", "arguments": writtenArgs()}},
			object{"id": echoed, "function": object{"name": echoed, "arguments": object{}}},
		}}, false),
		ollamaLine(object{"content": ""}, true),
	}
}

func ollamaAnswer() []map[string]any {
	text := `{"key":"` + quotedHalf + `"}`
	return []object{ollamaLine(object{"content": text[:15]}, false), ollamaLine(object{"content": text[15:]}, false), ollamaLine(object{"content": ""}, true)}
}
