package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"kagent/pkg/session"
)

// Summary is a session in a list.
type Summary struct {
	SessionID  string         `json:"sessionId"`
	AgentType  string         `json:"agentType"`
	Status     session.Status `json:"status"` // also Damaged
	Reason     session.Reason `json:"reason"`
	CreatedAt  time.Time      `json:"createdAt"`
	UpdatedAt  time.Time      `json:"updatedAt"`
	Iterations int            `json:"iterations"`
	ToolCalls  int            `json:"toolCalls"`
	TokenUsage int64          `json:"tokenUsage"`
	CostUSD    *float64       `json:"costUSD"`
	Input      string         `json:"input"`
	SizeBytes  int64          `json:"sizeBytes"`
	Owner      *Holder        `json:"owner"`
	Attempts   int            `json:"attempts"` // openings since the last finished step
	RetryAt    *time.Time     `json:"retryAt"`
	Error      string         `json:"error,omitempty"` // why it is damaged
}

// Damaged is the status of a session that can't be read.
const Damaged session.Status = "damaged"

// List returns all sessions, the last changed first. A session that can't be
// read is listed as damaged; it hides no other.
func (s *Store) List() ([]Summary, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	list := make([]Summary, 0, len(ids))
	for _, id := range ids {
		sum, err := s.Summary(id)
		var missing *NotFoundError
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			sum = Summary{SessionID: id, Status: Damaged, Error: err.Error()}
		}
		list = append(list, sum)
	}
	slices.SortStableFunc(list, func(a, b Summary) int {
		if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.SessionID, b.SessionID)
	})
	return list, nil
}

// Summary reads the head of the checkpoint. Only where the log is longer than
// the checkpoint knows, and nobody is writing it, the log is folded.
func (s *Store) Summary(id string) (Summary, error) {
	if CheckID(id) != nil {
		return Summary{}, &NotFoundError{ID: id}
	}
	p := pathsOf(s.dir, id)
	h, owner, ok := s.glance(p)
	if !ok {
		st, alive, err := s.outline(id)
		if err != nil {
			return Summary{}, err
		}
		h, owner = headOf(st, promise{}), alive
	}
	return s.summary(id, p, h, owner), nil
}

// Glance is Summary where the head of the checkpoint is enough for it.
func (s *Store) Glance(id string) (Summary, bool) {
	if CheckID(id) != nil {
		return Summary{}, false
	}
	p := pathsOf(s.dir, id)
	h, owner, ok := s.glance(p)
	if !ok {
		return Summary{}, false
	}
	return s.summary(id, p, h, owner), true
}

func (s *Store) glance(p paths) (head, *Holder, bool) {
	h, err := readHead(s.fs, p.checkpoint)
	owner := s.holder(p)
	info, lerr := s.fs.Lstat(p.log)
	switch {
	case err != nil || lerr != nil:
		return h, owner, false
	case owner != nil:
		return h, owner, true
	}
	return h, owner, info.Size() == h.Log.Offset && s.endsAt(p.log, h.Log)
}

// endsAt reports whether the last line of a log may be the one that its
// checkpoint names. Of a longer one than is read here it only tells that it ends.
func (s *Store) endsAt(log string, at promise) bool {
	f, err := s.fs.Open(log, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, min(max(at.Offset, 0), tailSize))
	if n, err := f.ReadAt(b, at.Offset-int64(len(b))); n < len(b) || n == 0 || err != nil && err != io.EOF {
		return false
	}
	start := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	if start == 0 && int64(len(b)) < at.Offset {
		return b[len(b)-1] == '\n'
	}
	last, err := decodeLine(b[start:])
	return err == nil && last.Seq == at.Seq && crcText(last.crc) == at.CRC
}

// outline folds a log of any size for how it stands, not for what was said.
func (s *Store) outline(id string) (*session.State, *Holder, error) {
	l, err := s.openLog(id)
	if a := s.foreign(err); a != nil {
		return &a.state, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer l.file.Close()
	owner := s.holder(l.paths)
	st := &session.State{}
	sc, err := scanLog(newReader(l.file), l.promised, func(e session.Event) {
		st.Apply(e)
		st.Forget(e.Scope)
	})
	if err != nil {
		return nil, nil, readError(id, l.paths.log, err)
	}
	return st, owner, found(id, l.paths, sc, st, l.unread)
}

func (s *Store) summary(id string, p paths, h head, owner *Holder) Summary {
	status, reason := effective(h.Status, h.Reason, owner != nil)
	sum := Summary{
		SessionID: id, AgentType: h.AgentType, Status: status, Reason: reason,
		CreatedAt: h.Metadata.CreatedAt, UpdatedAt: h.Metadata.UpdatedAt, Iterations: h.Metadata.Iterations,
		ToolCalls: h.Metadata.ToolCalls, TokenUsage: h.Metadata.TokenUsage, CostUSD: h.CostUSD,
		Input: h.Metadata.Input, Owner: owner, Attempts: h.Attempts, RetryAt: h.RetryAt,
	}
	for _, name := range []string{p.log, p.checkpoint} {
		if info, err := s.fs.Lstat(name); err == nil {
			sum.SizeBytes += info.Size()
		}
	}
	return sum
}
