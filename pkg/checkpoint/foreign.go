package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// A session may stand in the directory as nothing but the file of another
// program. It is shown as the session that it would become, and made one when
// it is gone on with.

// ForeignError says that a session is still a file of another program.
type ForeignError struct {
	ID, Path string
	told     teller
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("session %s is a file of %s (%s) and not imported yet", e.ID, e.told.format(), e.Path)
}

// teller is a foreign file that was understood.
type teller interface {
	format() string             // the program that wrote it
	origin() string             // the id in it
	created() time.Time         // zero if it does not say
	task() string               // what the user had asked for
	settings() session.Settings // as far as it knows them
	tell(a *author)             // what happened, up to its end
}

// maxForeign bounds what is read as a foreign file.
const maxForeign = 64 << 20

var (
	errTooLarge  = fmt.Errorf("it is larger than %d MiB", maxForeign>>20)
	errNoSession = errors.New("it is no session file: it has no messages, agentType or status as kagent and kagent-ts write them")
)

// understand reads a foreign file: one of kagent-ts, or a checkpoint of kagent
// itself.
func understand(b []byte) (teller, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return nil, errors.New("it is empty")
	case len(b) > maxForeign:
		return nil, errTooLarge
	}
	var top struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, broken(err)
	}
	if strings.HasPrefix(top.Schema, "kagent/") {
		return understandOwn(b, top.Schema)
	}
	return understandTS(b)
}

// broken says where JSON is cut off or does not fit.
func broken(err error) error {
	var syntax *json.SyntaxError
	var fit *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is damaged at byte %d: %w", syntax.Offset, err)
	case errors.As(err, &fit):
		return fmt.Errorf("it is damaged at byte %d: %s can't be a %s", fit.Offset, fit.Field, fit.Value)
	}
	return fmt.Errorf("it is damaged: %w", err)
}

// told writes down what a file tells, for who only reads.
func told(t teller, id, version string) *author {
	a := &author{clean: message.Clean}
	a.at(t.created())
	a.create(id, version, t.task(), t.settings())
	t.tell(a)
	return a
}

// strange looks for a foreign file where a session should be. It returns err
// where there is none, or a log has been begun.
func (s *Store) strange(id string, err error) error {
	var damaged *DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	p := pathsOf(s.dir, id)
	if begun, berr := s.begun(p.log); begun || berr != nil {
		return err
	}
	b, rerr := readUpTo(s.fs, p.checkpoint, maxForeign+1)
	if rerr != nil {
		return err
	}
	t, rerr := understand(b)
	_, own := t.(*ownFile)
	switch {
	case own:
		return err // it was never more than a picture of the log
	case rerr != nil && !ownText(b):
		return &DamagedError{ID: id, Path: p.checkpoint, Offset: -1, Why: rerr.Error()}
	case rerr != nil:
		return err
	}
	return &ForeignError{ID: id, Path: p.checkpoint, told: t}
}

// ownText reports whether kagent began to write a file.
func ownText(b []byte) bool { return bytes.HasPrefix(b, []byte(`{"schema":"kagent/`)) }

// begun reports whether a log has a first line.
func (s *Store) begun(log string) (bool, error) {
	f, err := s.fs.Open(log, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case !errors.Is(err, syscall.ENOTDIR) && as[*StorageError]((&Journal{}).unusable("", log, err)):
		return false, err
	case err != nil: // something else stands there, which others tell of
		return true, nil
	}
	defer f.Close()
	return begins(f)
}

// foreign returns what a foreign file tells, nil if err is of another kind.
func (s *Store) foreign(err error) *author {
	var f *ForeignError
	if !errors.As(err, &f) {
		return nil
	}
	return told(f.told, f.ID, s.owner.Version)
}

// mend closes a JSON object that was cut off: what is whole of it stays, up to
// the offset end.
func mend(b []byte) (whole []byte, end int64) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return []byte("{}"), 0
	}
	var out bytes.Buffer
	for sep := "{"; dec.More(); sep = "," {
		end = dec.InputOffset()
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			break
		}
		value, at, whole := mendValue(dec, name == "messages")
		if value == nil {
			break
		}
		quoted, _ := json.Marshal(name) // a string has no error
		out.WriteString(sep)
		out.Write(append(append(quoted, ':'), value...))
		if end = at; !whole {
			break
		}
	}
	if out.Len() == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), end
}

// maxItems bounds what is read of a list: each takes more memory than it has
// bytes.
const maxItems = 1 << 20

// mendValue reads a value, of a list its whole items. None is nil.
func mendValue(dec *json.Decoder, list bool) (value json.RawMessage, end int64, whole bool) {
	if !list {
		err := dec.Decode(&value)
		if err != nil {
			return nil, 0, false
		}
		return value, dec.InputOffset(), true
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, 0, false
	}
	items := []json.RawMessage{}
	whole = true
	for end = dec.InputOffset(); whole && dec.More(); {
		var item json.RawMessage
		if whole = len(items) < maxItems && dec.Decode(&item) == nil; whole {
			items, end = append(items, item), dec.InputOffset()
		}
	}
	if whole {
		_, err := dec.Token()
		whole = err == nil
	}
	value, _ = json.Marshal(items) // of what is JSON already
	return value, end, whole
}
