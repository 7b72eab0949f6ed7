package openai

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"kagent/pkg/provider"
)

// Bodies in the words of many services, after recordings and public reports.
func TestErrorsAreClassified(t *testing.T) {
	object := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, message, kind, code)
	}
	for _, c := range []struct {
		status int
		body   string
		kind   provider.Kind
		says   string
	}{
		{401, object("Incorrect API key provided: bad****key.", "invalid_request_error", `"invalid_api_key"`), provider.Auth, "Incorrect API key"},
		{401, `{"detail":"Invalid API Key"}`, provider.Auth, "Invalid API Key"},
		{400, object("API key not valid. Please pass a valid API key.", "", "400"), provider.Auth, "not valid"},
		{403, object("Project does not have access", "invalid_request_error", "null"), provider.Permission, "access"},
		{403, `{"code":"The caller does not have permission","error":"Your newly created teams doesn't have any credits yet."}`, provider.Quota, "credits"},
		{402, object("Insufficient Balance", "unknown_error", `"invalid_request_error"`), provider.Quota, "Insufficient Balance"},
		{429, object("You exceeded your current quota, please check your plan.", "insufficient_quota", `"insufficient_quota"`), provider.Quota, "quota"},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay": "34s"}]}}]`, provider.RateLimit, "quota"},
		{429, object("Rate limit reached. Need more tokens? Upgrade at https://x/settings/billing", "tokens", `"rate_limit_exceeded"`), provider.RateLimit, "Rate limit"},
		{429, object("Request too large for m on tokens per min (TPM): Limit 30000, Requested 61000.", "tokens", `"rate_limit_exceeded"`), provider.ContextLength, "too large"},
		{429, "slow down", provider.RateLimit, "slow down"},
		{400, object("This model's maximum context length is 8192 tokens.", "invalid_request_error", `"context_length_exceeded"`), provider.ContextLength, "8192"},
		{400, `{"object":"error","message":"the request exceeds the available context size","type":"exceed_context_size_error","code":400}`, provider.ContextLength, "context size"},
		{413, "<html><head><title>413 Request Entity Too Large</title></head></html>", provider.ContextLength, "HTML page (413"},
		{400, `{"error":{"message":"The response was filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, provider.ContentFilter, "filtered"},
		{404, object("The model `x` does not exist", "invalid_request_error", `"model_not_found"`), provider.NotFound, "does not exist"},
		{400, object("The supported API model names are a or b, but you passed c.", "invalid_request_error", "null"), provider.NotFound, "supported"},
		{404, `{"error":"Specified model not found: x"}`, provider.NotFound, "Specified model"},
		{404, "404 page not found\n", provider.NotFound, "404 page not found"},
		{408, "", provider.Timeout, "gave no reason"},
		{400, object("Unsupported parameter: 'stop'", "invalid_request_error", `"unsupported_parameter"`), provider.InvalidRequest, "'stop'"},
		{422, `{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}`, provider.InvalidRequest, "Field required"},
		{405, "", provider.InvalidRequest, "test gave no reason"},
		{407, "", provider.Auth, ""},
		{500, object("The server had an error", "server_error", "null"), provider.Server, "had an error"},
		{500, `{"error":{"message":"overloaded","type":"overloaded_error"}}`, provider.Overloaded, "overloaded"},
		{502, "<html>\n<head><title>502 Bad Gateway</title></head>", provider.Server, "HTML page (502 Bad Gateway)"},
		{503, object("That model is currently overloaded", "server_error", "null"), provider.Overloaded, "overloaded"},
		{504, "", provider.Server, ""},
		{529, "", provider.Overloaded, ""},
		{498, "", provider.Overloaded, ""},
		{520, "error code: 520", provider.Server, "520"},
		{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":\"prompt is too long\"}"}}}`, provider.ContextLength, "prompt is too long"},
		{400, `{"error":{"message":{"detail":"odd"}}}`, provider.InvalidRequest, "odd"},
		{400, "\xff\x00\x1b[2J" + strings.Repeat("x", 4000), provider.InvalidRequest, "xxx"},
		{418, `{"a":1}`, provider.InvalidRequest, `test gave an answer of 7 bytes that is no error message (it begins: {"a":1})`},
	} {
		reply, err := decodeAll(t, c.status, nil, strings.NewReader(c.body))
		e := failed(t, err)
		if e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) || reply.Parts != nil {
			t.Errorf("%d %.80s: %v; want %s", c.status, c.body, e, c.kind)
		}
		if e.Provider != "openai" || e.Model != "m" || len(e.Message) > 2000 || strings.ContainsAny(e.Message, "\n\x1b\x00") {
			t.Errorf("not fit to be shown: %#v", e)
		}
	}
}

func TestTheServersWaitIsInTheError(t *testing.T) {
	for _, c := range []struct {
		status     int
		name, body string
		want       time.Duration
	}{
		{429, "Retry-After: 7", "{}", 7 * time.Second},
		{503, "Retry-After: 7", "{}", 7 * time.Second},
		{429, "X-Ratelimit-Reset-Tokens: 6m0s", "{}", 6 * time.Minute},
		{429, "", `{"error":{"message":"Please try again in 8m38.4s. Visit"}}`, 8*time.Minute + 38400*time.Millisecond},
		{429, "Retry-After: 1", `{"error":{"message":"Please try again in 644ms."}}`, time.Second},
		{200, "", `data: {"error":{"code":429,"message":"try again in 2s"}}` + "\n\n", 2 * time.Second},
		{429, "", "", 0},
	} {
		header := http.Header{}
		if name, value, ok := strings.Cut(c.name, ": "); ok {
			header.Set(name, value)
		}
		_, err := decodeAll(t, c.status, header, strings.NewReader(c.body))
		if e := failed(t, err); e.RetryAfter != c.want {
			t.Errorf("%d %q %s: %v, want %v", c.status, c.name, c.body, e.RetryAfter, c.want)
		}
	}
}

// F149: whatever a server echoes, no error has the key, nor other headers.
func TestSecretsAreInNoError(t *testing.T) {
	var server *httptest.Server
	echo := func(w http.ResponseWriter, r *http.Request) {
		key, api := r.Header.Get("Authorization"), r.Header.Get("Api-Key")
		if key != "Bearer SECRETKEY123" || api != "SECRETHEADER" || strings.Contains(r.URL.String(), "SECRET") {
			t.Errorf("key %q, header %q, address %s", key, api, r.URL)
		}
		if r.URL.Path == "/redirect/chat/completions" {
			http.Redirect(w, r, "http://localhost:1/?key=SECRETKEY123", http.StatusTemporaryRedirect)
			return
		}
		code := http.StatusOK
		fmt.Sscanf(r.URL.Path, "/%d/", &code)
		w.WriteHeader(code)
		if strings.Contains(r.URL.Path, "html") {
			fmt.Fprintf(w, "<html><title>%s</title>", key)
			return
		}
		if strings.Contains(r.URL.Path, "finish") {
			fmt.Fprintf(w, "data: {\"choices\":[{\"finish_reason\":%q}]}\n\n", key)
			return
		}
		fmt.Fprintf(w, `{"error":{"message":"%s key %s and %s, %s","type":"t"}}`, strings.Repeat("x", 480), key, api, r.Header)
	}
	server = httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	address := server.URL
	closed := httptest.NewServer(nil)
	closed.Close()
	withUser := strings.Replace(address, "://", "://user:SECRETPASS@", 1)
	for _, base := range []string{
		address + "/200", address + "/400", address + "/401", address + "/500", address + "/200/html", address + "/502/html",
		address + "/finish", address + "/redirect", withUser + "/400", closed.URL, strings.Replace(closed.URL, "://", "://u:SECRETPASS@", 1),
		"https://" + strings.TrimPrefix(address, "http://"),
	} {
		p := open(t, Options{BaseURL: base, APIKey: "SECRETKEY123", Header: map[string]string{"Api-Key": "SECRETHEADER"}})
		_, err := p.Stream(context.Background(), hello, func(provider.Event) {})
		if e := failed(t, err); strings.Contains(e.Error(), "SECRET") {
			t.Errorf("%s: %v", strings.TrimPrefix(base, address), e)
		}
	}
}

// F067, over a real connection: promised bytes that don't come are missed.
func TestCutConnectionsAreSeen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := strings.Split(hi, `,"finish`)[0] + "}]}\n\n"
		if r.URL.Path == "/length/chat/completions" {
			w.Header().Set("Content-Length", "1000")
		}
		fmt.Fprint(w, body)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	for _, path := range []string{"/length", "/chunked"} {
		_, err := open(t, Options{BaseURL: server.URL + path}).Stream(t.Context(), hello, func(provider.Event) {})
		e := failed(t, err)
		if e.Kind != provider.Network || !strings.Contains(e.Message, "2 bytes of text") {
			t.Errorf("%s: %v", path, e)
		}
	}
}

func TestAnErrorWhoseBodyBreaksOffIsStillThatError(t *testing.T) {
	_, err := decodeAll(t, 401, nil, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("no key"))))
	if e := failed(t, err); e.Kind != provider.Auth || e.Status != 401 {
		t.Errorf("%v", e)
	}
}
