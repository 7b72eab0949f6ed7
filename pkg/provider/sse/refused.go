package sse

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"kagent/pkg/provider"
)

// MaxErrorBody is how much of an error's body is read, in bytes.
const MaxErrorBody = 1 << 20

// Refused reads an answer whose status is no success and returns what it says
// as an error, or ctx's cause.
func (c *Client) Refused(ctx context.Context, a *Answer) error {
	body, _ := ReadSome(a, MaxErrorBody) // half a body is better than none
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := c.failure(a.Status, body)
	if after := RetryAfter(a.Status, a.Header, time.Now()); after > 0 {
		e.RetryAfter = after
	}
	e.Kind, e.Once = advised(e.Kind, a.Header)
	if e.Message == "" {
		e.Message = c.line(a.Host + " " + c.unclear(body))
	}
	if IsPage(body) {
		e.Message = c.Fail(e.Kind, 0, "%s answered with %s", a.Host, PageNote([]byte(c.hide(string(body))))).Message
	}
	return e
}

// InStream returns the error that a body with status 200 holds. Its code may
// be a status.
func (c *Client) InStream(data []byte) error {
	e := c.failure(0, data)
	if e.Message == "" {
		e.Message = c.line("the stream holds an error: it " + c.unclear(data))
	}
	return e
}

// longestText is how many bytes of plain text are taken for an error message.
const longestText = 300

// unclear says what is there in place of an error message.
func (c *Client) unclear(body []byte) string {
	text := strings.Join(strings.Fields(c.hide(string(body))), " ")
	switch strings.ReplaceAll(text, " ", "") {
	case "", "null", "{}", "[]", `""`:
		return "gave no reason"
	}
	size := "an answer of " + strconv.Itoa(len(body)) + " bytes"
	if len(body) == MaxErrorBody {
		size = "a very long answer"
	}
	if r := []rune(text); len(r) > 80 {
		text = string(r[:80]) + "…"
	}
	return "gave " + size + " that is no error message (it begins: " + text + ")"
}

func (c *Client) failure(status int, body []byte) *provider.Error {
	f := ParseFailure(body)
	if status == 0 {
		if code, err := strconv.Atoi(f.code); err == nil && code >= 400 && code < 600 {
			status = code
		}
	}
	kind := f.Kind(status)
	if f.plain && (len(f.Text) > longestText || looksJSON(f.Text)) {
		f.Text = ""
	}
	e := c.Fail(kind, status, "%s", f.Text)
	e.RetryAfter, e.Code = f.After, c.line(f.code)
	return e
}

// LoginPage is the error for a web page with status 200 in place of an answer,
// of which nothing has been read but white space.
func (c *Client) LoginPage(a *Answer) error {
	page, _ := ReadSome(a, MaxErrorBody)
	return c.Fail(provider.Server, a.Status, "%s answered with %s instead of a completion; is the base URL right?", a.Host, PageNote([]byte(c.hide(string(page)))))
}

// IsError reports whether the value of a key "error" tells of one.
func IsError(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}
