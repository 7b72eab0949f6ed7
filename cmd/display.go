package cmd

import (
	"time"

	"github.com/spf13/pflag"
)

// displayFlags say what is shown while an agent runs.
type displayFlags struct {
	quiet        bool
	stream       bool
	allowPartial bool
	answerFile   string
	record       string
	waitLimit    time.Duration
	verbose      bool
	logFile      string
	heartbeat    string
	grace        time.Duration
}

func (d *displayFlags) addTo(f *pflag.FlagSet) {
	f.BoolVarP(&d.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&d.verbose, "verbose", "v", false, "show replies, arguments and results too")
	f.StringVar(&d.logFile, "log-file", "", "file to add the progress to, in full, whatever stderr shows")
	f.StringVar(&d.heartbeat, "heartbeat-url", "", "address of a monitor of cron jobs, told of the start (/start), of success and of failure (/fail)")
	f.BoolVar(&d.stream, "stream", false, "show the text on stdout as it comes (default on a terminal)")
	f.BoolVar(&d.allowPartial, "allow-partial", false, "print what there is of an answer also where it is not complete; the exit code says so")
	f.DurationVar(&d.waitLimit, "wait-limit", 0, "how long in all to wait for rate limits to end, saved meanwhile (default: end as interrupted)")
	f.DurationVar(&d.grace, "grace", 5*time.Second, "how long a tool has to end when the run or its time is over; then it is killed")
	f.StringVar(&d.record, "record", "", "file for the replies and results of the session, as a script that --model script:FILE replays offline")
	f.StringVar(&d.answerFile, "answer-file", "", "file for the answer: replaced in one step, and only on success")
}
