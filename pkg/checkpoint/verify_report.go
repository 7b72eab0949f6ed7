package checkpoint

import "fmt"

// Kind says what is wrong.
type Kind string

// The kinds of problems. Notes tell what is worth knowing and does no harm.
const (
	KindLog         Kind = "log"         // lines that are lost or changed
	KindEvent       Kind = "event"       // sound lines that make no sense together
	KindCheckpoint  Kind = "checkpoint"  // it can't be read, or differs from the log
	KindArtifact    Kind = "artifact"    // an output that is missing or changed
	KindFile        Kind = "file"        // something foreign in the place of a file
	KindPermissions Kind = "permissions" // others may read or write it
	KindSecret      Kind = "secret"      // something that should not be stored; Verify does not look for it
	KindNewer       Kind = "newer"       // a note: a newer version wrote it
	KindTorn        Kind = "torn"        // a note: an end that was never promised
	KindNote        Kind = "note"
)

// Damage reports whether something that had been promised is not there.
func (k Kind) Damage() bool { return !k.Note() && k != KindPermissions && k != KindSecret }

// Note reports whether nothing is wrong.
func (k Kind) Note() bool { return k == KindNewer || k == KindTorn || k == KindNote }

// Problem is one thing that was found. Offset is in Path, -1 if it has none.
type Problem struct {
	Kind    Kind   `json:"kind"`
	Path    string `json:"path"`
	Offset  int64  `json:"offset"`
	Message string `json:"message"`
	Orphan  bool   `json:"-"` // Path is a checkpoint that has lost its log
}

// Report is what there is to say of a session. OK means that no problem is
// more than a note.
type Report struct {
	SessionID string    `json:"sessionId"`
	OK        bool      `json:"ok"`
	Problems  []Problem `json:"problems"`
}

// Damaged reports whether one of the problems is damage.
func (r Report) Damaged() bool {
	for _, p := range r.Problems {
		if p.Kind.Damage() {
			return true
		}
	}
	return false
}

// mostProblems bounds what is reported of one session.
const mostProblems = 1000

func (r *Report) add(k Kind, path string, offset int64, format string, args ...any) {
	if r.OK = r.OK && k.Note(); len(r.Problems) < mostProblems {
		r.Problems = append(r.Problems, Problem{Kind: k, Path: path, Offset: offset, Message: fmt.Sprintf(format, args...)})
	}
}
