package cmd

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// result is the one object that tells a script everything, on every path.
type result struct {
	Schema     string           `json:"schema"`
	Session    string           `json:"session"`
	Agent      string           `json:"agent"`
	Model      string           `json:"model"`
	Status     session.Status   `json:"status"`
	Reason     session.Reason   `json:"reason"`
	Answer     *string          `json:"answer"`
	Partial    *string          `json:"partial"`
	Data       any              `json:"data"`
	Usage      message.Usage    `json:"usage"`
	CostUSD    *float64         `json:"costUSD"`
	Steps      int              `json:"steps"`
	ToolCalls  int              `json:"toolCalls"`
	Denied     []string         `json:"denied"`
	Warnings   []string         `json:"warnings"`
	Stdin      stdinResult      `json:"stdin"`
	DurationMs int64            `json:"durationMs"`
	Checkpoint string           `json:"checkpoint"`
	Resume     string           `json:"resume"`
	RetryAt    *time.Time       `json:"retryAt"`
	Error      *session.Failure `json:"error"`

	refused bool // a tool was denied, which the session does not bear
}

type stdinResult struct {
	Attached bool  `json:"attached"`
	Bytes    int64 `json:"bytes"`
}

const resultSchema = "kagent/result/v1"

func newResult() result {
	return result{Schema: resultSchema, Denied: []string{}, Warnings: []string{}}
}

// as gives the result the form of a last line of jsonl.
func (r result) as(format string) any {
	if format != "jsonl" {
		return r
	}
	return struct {
		Type string `json:"type"`
		result
	}{"result", r}
}

// fill takes over what the session says.
func (r *result) fill(s *session.State, end agent.Finish, store *checkpoint.Store) {
	r.Session, r.Agent, r.Model = s.ID, s.Settings.Agent, s.Settings.Model
	r.Status, r.Reason, r.Error = end.Status, end.Reason, end.End.Error
	r.Usage, r.CostUSD, r.Steps, r.ToolCalls = s.Usage, s.Cost(), s.Iterations, s.ToolCalls
	if denied := slices.Compact(slices.Sorted(slices.Values(s.Denied))); denied != nil {
		r.Denied = denied
	}
	r.refused = s.Settings.FailOnDenied && len(s.DeniedNow()) > 0
	for _, w := range agent.Fallbacks(s) { // also of what an earlier run concluded
		r.warn(oneLine(w, 1000))
	}
	for _, reply := range s.Main().Masked() {
		r.warn(maskedIn(&reply.AssistantMessage))
	}
	r.Checkpoint = store.Path(s.ID)
	if !end.End.RetryAt.IsZero() {
		r.RetryAt = &end.End.RetryAt
	}
	text := s.Main().Answer()
	if end.Status == session.Completed {
		if data, wrong := agent.Data(s); len(s.Settings.OutputSchema) > 0 && wrong == "" {
			text, r.Data = string(data), data
		}
		r.Answer = &text
		return
	}
	if text = s.Main().Draft(); text != "" {
		r.Partial = &text
	}
	r.Resume = resumeLine(store, s.ID)
	if r.Resume += raised(s, end.Reason); end.Reason == session.ReasonPlan {
		r.Resume += " --approve " + approveAll
	}
}

// warn adds a warning, once, and reports whether it is a new one.
func (r *result) warn(w string) bool {
	if slices.Contains(r.Warnings, w) {
		return false
	}
	r.Warnings = append(r.Warnings, w)
	return true
}

// code is the exit code of a run that came to this.
func (r *result) code() int {
	code := exitCode(string(r.Status), string(r.Reason))
	if r.refused {
		code = exitFirst(code, exitPerson)
	}
	return code
}

func resumeLine(store *checkpoint.Store, id string) string {
	line := "kagent resume " + id
	if filepath.Clean(store.Dir()) != ".kagent-sessions" {
		line += " --dir " + quote(store.Dir())
	}
	return line
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return out
}

// quote makes s one word of a shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// classify maps an error to its exit code, status and reason. Of several
// joined errors the first in the order of exitPreference counts.
func classify(err error) (code int, status session.Status, reason session.Reason) {
	var (
		notFound  *checkpoint.NotFoundError
		ambiguous *checkpoint.AmbiguousError
		inUse     *checkpoint.InUseError
		damaged   *checkpoint.DamagedError
		storage   *checkpoint.StorageError
		stop      *agent.Stop
		fault     *panicked
	)
	switch {
	case errors.As(err, &fault):
		return exitFailed, session.Failed, session.ReasonInternal
	case errors.As(err, &stop):
		return exitCode(string(stop.Status), string(stop.Reason)), stop.Status, stop.Reason
	case errors.As(err, &storage):
		return exitStorage, session.Interrupted, session.ReasonStorage
	case errors.As(err, &damaged):
		return exitDamaged, session.Failed, "damaged"
	case errors.As(err, &inUse):
		return exitLocked, session.Failed, "in_use"
	case errors.As(err, &notFound), errors.As(err, &ambiguous):
		return exitNotFound, session.Failed, "no_session"
	}
	return exitUsage, session.Failed, "usage"
}

func errorResult(err error) result {
	r := newResult()
	_, r.Status, r.Reason = classify(err)
	r.Error = &session.Failure{Kind: string(r.Reason), Message: oneLine(err.Error(), 2000)}
	r.Session = idOf(err)
	return r
}

// idOf returns the session that an error is about, "" if it is about none.
func idOf(err error) string {
	var (
		inUse   *checkpoint.InUseError
		damaged *checkpoint.DamagedError
		newer   *checkpoint.VersionError
		other   *checkpoint.UserError
	)
	switch {
	case errors.As(err, &inUse):
		return inUse.ID
	case errors.As(err, &damaged):
		return damaged.ID
	case errors.As(err, &newer):
		return newer.ID
	case errors.As(err, &other):
		return other.ID
	}
	return ""
}

// hints says what to do about an error.
func hints(err error) []string {
	var notFound *checkpoint.NotFoundError
	var ambiguous *checkpoint.AmbiguousError
	var damaged *checkpoint.DamagedError
	var foreign *checkpoint.ForeignError
	var other *checkpoint.UserError
	var there *existsError
	switch {
	case errors.As(err, &other) && other.Mode != 0:
		return []string{"if `kagent show " + other.ID + "` shows nothing but yours: chmod -R go-w " + strings.Join(quoted(other.All), " ") +
			"; or take its past over on purpose: `kagent fork " + other.ID + "`"}
	case errors.As(err, &other):
		return []string{"run kagent as that user, chown the session, or take its past over on purpose: `kagent fork " + other.ID + "`"}
	case errors.As(err, &notFound) && len(notFound.Near) > 0:
		return []string{"did you mean " + strings.Join(notFound.Near, ", ") + "?"}
	case errors.As(err, &notFound) && strings.ContainsAny(notFound.ID, " \n"):
		return []string{"a prompt comes after the id: kagent resume --last 'PROMPT'; a new session is begun by `kagent run`"}
	case errors.As(err, &notFound):
		return []string{"`kagent list` shows all; --dir names another directory"}
	case errors.As(err, &ambiguous):
		return []string{"it may mean " + strings.Join(ambiguous.IDs, ", ")}
	case errors.As(err, &foreign):
		return []string{"`kagent import " + quote(foreign.Path) + "` makes it one, and so does `kagent resume " + foreign.ID + "`"}
	case errors.Is(err, checkpoint.ErrBeyondRepair):
		return nil
	case errors.As(err, &damaged) && damaged.Elsewhere:
		return []string{"`kagent import --damaged " + quote(damaged.Path) + "` makes a session of what is whole of it"}
	case errors.As(err, &damaged) && damaged.Orphan:
		return []string{takeUp(damaged.ID, damaged.Path)}
	case errors.As(err, &damaged):
		return []string{"`kagent verify " + damaged.ID + "` tells all that is wrong, `kagent repair " + damaged.ID + "` makes a new session from what is sound"}
	case errors.As(err, &there):
		return []string{"go on with it by `kagent resume " + there.id + "`, choose another --session, or say by --if-exists what a second start does"}
	case errors.Is(err, checkpoint.ErrExists):
		return []string{"go on with it by `kagent resume`, or choose another --session"}
	}
	return storageHints(err)
}

// takeUp says what can be made of a checkpoint that has lost its log.
func takeUp(id, path string) string {
	return "`kagent import " + quote(path) + "` makes a new session of what the checkpoint shows, `kagent repair " + id + "` one of its task and settings"
}

// storageHints says what to do about a disk that takes no session.
func storageHints(err error) []string {
	var storage *checkpoint.StorageError
	if !errors.As(err, &storage) {
		return nil
	}
	for hint, causes := range map[string][]syscall.Errno{
		"free some space there, or inodes (df, df -i)":                      {syscall.ENOSPC},
		"free some of your quota there":                                     {syscall.EDQUOT},
		"raise the limit of the size of files (ulimit -f)":                  {syscall.EFBIG},
		"raise the limit of open files (ulimit -n)":                         {syscall.EMFILE, syscall.ENFILE},
		"--dir names a directory that can be written to":                    {syscall.EROFS, syscall.EACCES, syscall.EPERM},
		"that file system has no locks: --dir names a directory on another": {syscall.ENOLCK},
		"the disk itself fails: look at the log of the system":              {syscall.EIO},
	} {
		for _, cause := range causes {
			if errors.Is(storage.Err, cause) {
				return []string{hint}
			}
		}
	}
	return nil
}
