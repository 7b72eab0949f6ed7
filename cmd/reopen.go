package cmd

import (
	"errors"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// reopening takes a session that is there, and gives it what the user said
// anew. What can be refused is refused before anything is written.
type reopening struct {
	app      *app
	cmd      *cobra.Command // for what a session of another program takes its settings from
	store    *checkpoint.Store
	flags    *settingFlags
	given    func(name string) bool // the flags that count
	verdicts []*session.OutcomeSettled
	approve  string                     // what a person consents to, "" for nothing
	prompted bool                       // something is said to it
	admit    func(*session.State) error // a further condition, under the lock; may be nil
	left     []string                   // warnings of what the session's old service alone was meant for
}

// taken is a session that this process has.
type taken struct {
	journal  *checkpoint.Journal
	provider provider.Provider
	settings session.Settings
	warnings []string
}

func (r *reopening) open(id string) (*taken, error) {
	t, err := r.take(id)
	var foreign *checkpoint.ForeignError
	if errors.As(err, &foreign) && r.cmd != nil {
		if err := r.app.adopt(r.cmd, r.store, id); err != nil {
			return nil, err
		}
		return r.take(id)
	}
	return t, err
}

func (r *reopening) take(id string) (*taken, error) {
	t := &taken{}
	j, rec, err := r.store.Open(id, func(s *session.State) (err error) {
		if r.admit != nil {
			if err := r.admit(s); err != nil {
				return err
			}
		}
		t.settings, t.provider, err = r.prepare(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.journal, t.warnings = j, slices.Concat(recoveryWarnings(rec), r.flags.warnings, r.left)
	t.settings.System, t.warnings = mask(t.settings, "the system prompt", t.settings.System, t.warnings)
	if err := r.record(j, t.settings); err != nil {
		j.Close()
		return nil, err
	}
	return t, nil
}

// prepare checks all that is given against the session as it stands.
func (r *reopening) prepare(state *session.State) (s session.Settings, p provider.Provider, err error) {
	for _, verdict := range r.verdicts {
		if !inDoubt(state, verdict.Call) {
			return s, nil, usageErrorf("`kagent show "+state.ID+"` lists those that are", "--outcome: call %s is not in doubt", verdict.Call)
		}
	}
	if err := checkApproval(state, r.approve); err != nil {
		return s, nil, err
	}
	if err := r.checkConsent(state.ID); err != nil {
		return s, nil, err
	}
	if state.Blank() && !r.prompted && !r.told(state.ID) {
		return s, nil, usageErrorf("say what it is to do: kagent resume "+state.ID+" 'PROMPT'", "session %s has no task yet", state.ID)
	}
	s = state.Settings
	if err := r.flags.apply(&s, r.given); err != nil {
		return s, nil, err
	}
	if err := r.leaveService(&s, state.Settings.Model); err != nil {
		return s, nil, err
	}
	if err := checkStoredSchema(state.ID, s); err != nil {
		return s, nil, err
	}
	if err := checkPrices(s, state); err != nil {
		return s, nil, err
	}
	p, err = newProvider(s)
	return s, p, err
}

// told reports whether somebody has left a message for the session.
func (r *reopening) told(id string) bool {
	inbox, err := r.store.Inbox(id)
	return err == nil && !inbox.Empty()
}

// checkConsent refuses to approve a plan and to have it changed at once: the one
// that would be carried out is not the one that is wanted.
func (r *reopening) checkConsent(id string) error {
	switch {
	case r.approve == "":
		return nil
	case r.prompted:
		return usageErrorf("leave out --approve to have it planned anew, or the prompt to carry it out as it is",
			"--approve and a prompt: either approve the plan of session %s, or say what to change", id)
	case r.told(id):
		return usageErrorf("`kagent resume "+id+"` has it planned anew and waits for your word again",
			"--approve: a message sent to session %s is not in its plan yet", id)
	}
	return nil
}

// record writes down what changed for the session.
func (r *reopening) record(j *checkpoint.Journal, s session.Settings) error {
	if !reflect.DeepEqual(s, j.State().Settings) {
		if err := j.Append("", &session.SettingsChanged{Settings: s}); err != nil {
			return err
		}
	}
	for _, v := range r.verdicts {
		sc, _ := j.State().Find(v.Call)
		if sc == nil {
			continue // its doubt is over
		}
		if err := j.Append(sc.Name, v); err != nil {
			return err
		}
	}
	if r.approve != "" {
		return j.Append("", &session.ApprovalGiven{What: "plan"})
	}
	return nil
}

func recoveryWarnings(rec checkpoint.Recovery) []string {
	w := rec.Warnings
	if t := rec.Torn; t != nil {
		w = append(w, "the end of the log was torn by a crash: "+plural(t.Bytes, "byte")+" that had never been promised are set aside in "+t.File)
	}
	return w
}
