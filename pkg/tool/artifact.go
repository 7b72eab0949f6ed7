package tool

import (
	"fmt"
	"io"
	"strings"

	"kagent/pkg/message"
)

// Artifacts is where a tool puts output that is too large for its result. It
// is safe for concurrent use.
type Artifacts interface {
	Create() (Artifact, error)
}

// Artifact is one such output while it is written. Write passes over what is
// more than may be kept. Keep makes the artifact durable, Discard gives it up;
// one of them ends it.
type Artifact interface {
	io.Writer
	Keep() (message.Artifact, error)
	Discard()
}

// OpenArtifact opens the artifact that a reference names and returns its size.
// A reference is the hash of an artifact or a beginning that no other has. The
// texts of errors are observations for the model.
type OpenArtifact func(ref string) (io.ReadCloser, int64, error)

// artifactPath is how read_file names an artifact: with its reference behind.
const artifactPath = "artifact:"

// ArtifactPath is how read_file is asked for an artifact.
func ArtifactPath(a message.Artifact) string { return artifactPath + a.Ref[:min(shownRef, len(a.Ref))] }

// shownRef is how much of a hash a model is shown: it must be copied without a
// mistake.
const shownRef = 16

// spill is where the whole of an output goes that is too long for a result.
// The zero value keeps nothing.
type spill struct {
	store Artifacts
	file  Artifact // nil before something is written, and after a failure
	err   error    // why the output is not kept
}

// write adds pieces of the output. After a failure it does nothing.
func (s *spill) write(pieces ...[]byte) {
	if s.store == nil || s.err != nil {
		return
	}
	if s.file == nil {
		if s.file, s.err = s.store.Create(); s.err != nil {
			return
		}
	}
	for _, b := range pieces {
		if _, s.err = s.file.Write(b); s.err != nil {
			s.file.Discard()
			return
		}
	}
}

// keep ends the artifact and returns what it is and what the model is told of
// it; nothing, if there is no need for one.
func (s *spill) keep(wanted bool) (*message.Artifact, string) {
	if s.file == nil && s.err == nil {
		return nil, ""
	}
	if s.err == nil && !wanted {
		s.file.Discard()
		return nil, ""
	}
	var kept message.Artifact
	if s.err == nil {
		kept, s.err = s.file.Keep()
	}
	if s.err != nil {
		return nil, fmt.Sprintf("; the whole output was not kept: %v", reason(s.err))
	}
	what := fmt.Sprintf("the whole output (%d bytes)", kept.Bytes)
	if kept.Cut {
		what = fmt.Sprintf("the output up to byte %d", kept.Bytes)
	}
	return &kept, fmt.Sprintf("; to see %s, call read_file with path %q and offset and limit in lines",
		what, ArtifactPath(kept))
}

// openArtifact opens what a path names that begins with artifactPath.
func (t readFile) openArtifact(path string) (io.ReadCloser, int64, error) {
	if t.artifact == nil {
		return nil, 0, fmt.Errorf("%s: nothing was kept in this session", path)
	}
	r, size, err := t.artifact(strings.TrimPrefix(path, artifactPath))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, reason(err))
	}
	return r, size, nil
}
