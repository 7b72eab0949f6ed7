package checkpoint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// shelf is a store of a temporary directory with one session that was begun.
func shelf() (store *checkpoint.Store, remove func()) {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	store = checkpoint.NewStore(dir, checkpoint.Options{Owner: checkpoint.ThisProcess("example")})
	j, err := store.Create("report", session.Created{Task: "write the report", Settings: session.Settings{Agent: "react"}})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	if err := j.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}); err != nil {
		log.Fatal(err)
	}
	if err := j.Commit(); err != nil { // durable, and in the checkpoint
		log.Fatal(err)
	}
	return store, func() { os.RemoveAll(dir) }
}

// Nobody has a session twice, and opening one recovers it: a turn that its
// owner left open is closed as interrupted.
func ExampleStore_Open() {
	store, remove := shelf()
	defer remove()

	j, recovery, err := store.Open("report")
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	turn := j.State().Main().Turn
	fmt.Println(turn.Status, turn.Reason, recovery.Torn == nil)

	_, _, err = store.Open("report")
	var busy *checkpoint.InUseError
	fmt.Println(errors.As(err, &busy))
	// Output:
	// interrupted crash true
	// true
}

// A list reads the heads of the checkpoints, and hides no damaged session.
func ExampleStore_List() {
	store, remove := shelf()
	defer remove()
	list, err := store.List()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range list {
		fmt.Println(s.SessionID, s.Status, s.Reason, s.Input)
	}
	// Output: report interrupted crash write the report
}

// A reader needs no lock. What it sees is the checkpoint's object, folded from
// the log.
func ExampleStore_Read() {
	store, remove := shelf()
	defer remove()
	view, err := store.Read("report")
	if err != nil {
		log.Fatal(err)
	}
	image, err := view.Image()
	if err != nil {
		log.Fatal(err)
	}
	var c struct {
		Schema   string
		Metadata struct{ Input string }
	}
	fmt.Println(json.Unmarshal(image, &c), c.Schema, c.Metadata.Input)
	// Output: <nil> kagent/checkpoint/v1 write the report
}

// A fork shares the past; the session it comes from is only read.
func ExampleStore_Fork() {
	store, remove := shelf()
	defer remove()
	fork, err := store.Fork("report", "report-b", checkpoint.ForkOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fork.From, fork.State.ID, fork.State.Task)
	// Output: report report-b write the report
}

// A session that nobody runs is given the status that a person says.
func ExampleJournal_Mark() {
	store, remove := shelf()
	defer remove()
	j, _, err := store.Open("report")
	if err != nil {
		log.Fatal(err)
	}
	err = j.Mark(session.TurnEnd{Status: session.Completed})
	j.Close()
	s, _ := store.Summary("report")
	fmt.Println(err, s.Status)
	// Output: <nil> completed
}
