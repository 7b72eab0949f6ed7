package tool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Orphans finds and ends what commands leave behind outside their group
// (setsid, daemons): see doc.go. There is at most one for a process, because it
// takes each child in a session other than ours for an orphan, unless it leads a
// running command. A nil one finds nothing.
type Orphans struct {
	// Held for reading while a command starts, until its leader is in live.
	starting sync.RWMutex
	live     sync.Map     // pid of the leader of each running command: true
	calls    atomic.Int32 // begun, and what they left behind not ended yet
	session  int
	died     chan os.Signal
	over     chan struct{} // closed when the dead are no longer looked for
}

// reapPause bounds how often the dead are looked for.
const reapPause = 100 * time.Millisecond

// AdoptOrphans makes this process the parent of all that its commands leave
// behind; nil where the system has no such thing. From then on the process may
// have children that it did not start.
func AdoptOrphans() *Orphans {
	session, err := unix.Getsid(0)
	if _, lerr := children(); err != nil || lerr != nil {
		return nil
	}
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return nil
	}
	o := &Orphans{session: session, died: make(chan os.Signal, 1), over: make(chan struct{})}
	signal.Notify(o.died, syscall.SIGCHLD)
	go o.reap()
	return o
}

// Close gives orphans back to whoever else takes them.
func (o *Orphans) Close() {
	if o != nil {
		signal.Stop(o.died)
		close(o.died)
		<-o.over // it would take another's commands for orphans
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}

// begin says that a call is about to start a command: end is called for each.
func (o *Orphans) begin() {
	if o != nil {
		o.calls.Add(1)
	}
}

// start starts a command that leads a session of its own.
func (o *Orphans) start(cmd *exec.Cmd) error {
	if o == nil {
		return cmd.Start()
	}
	o.starting.RLock()
	defer o.starting.RUnlock()
	err := cmd.Start()
	if err == nil {
		o.live.Store(cmd.Process.Pid, true)
	}
	return err
}

// wait waits for the end of a command that start has started.
func (o *Orphans) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // the state says it all
	if o != nil {
		o.live.Delete(cmd.Process.Pid)
	}
}

// terminate asks what a call has left behind to end, when its leader is gone. Its
// group has been asked already; twice means "at once" to some.
func (o *Orphans) terminate(key string, group int) {
	o.each(key, func(pid int) {
		if in, err := unix.Getpgid(pid); err == nil && in != group {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	})
}

// end kills what a call has left behind, when its leader is gone. It tells
// whether there was something and whether something of it is still there. Only
// direct children are killed: their numbers can't be given away before we reap
// them, and what they started is ours when they are reaped.
func (o *Orphans) end(key string) (found, left bool) {
	if o == nil {
		return false, false
	}
	defer o.calls.Add(-1)
	deadline := time.Now().Add(killTime)
	for pause := time.Millisecond; ; pause = min(2*pause, reapPause) {
		seen := o.each(key, func(pid int) {
			if !dead(pid) {
				found = true
				left = errors.Is(syscall.Kill(pid, syscall.SIGKILL), unix.EPERM) || left
			}
		})
		if seen == 0 || left || time.Now().After(deadline) {
			return found, left || seen > 0
		}
		time.Sleep(pause)
	}
}

// each calls do with the orphans of the call of that key and counts them. While
// other calls have not ended theirs, these are only those that say so in their
// environment: what has wiped it is taken for the last call's. The first process of a container
// is given strangers too.
func (o *Orphans) each(key string, do func(pid int)) (seen int) {
	if o == nil || !o.quiet() {
		return 0
	}
	defer o.starting.Unlock()
	sure := os.Getpid() != 1 && o.calls.Load() <= 1
	o.live.Range(func(any, any) bool { sure = false; return false })
	for _, pid := range o.orphans() {
		if sure || marked(pid, key) {
			seen++
			do(pid)
		}
	}
	return seen
}

// quiet takes the lock at a moment at which no command starts; false means that
// there was none. It never queues, so that it can't hold up a start.
func (o *Orphans) quiet() bool {
	for deadline := time.Now().Add(killTime); !o.starting.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// orphans returns our children that are neither in our session nor the leader
// of a running command.
func (o *Orphans) orphans() []int {
	pids, err := children()
	if err != nil {
		return nil
	}
	var found []int
	for _, pid := range pids {
		_, leads := o.live.Load(pid)
		if session, err := unix.Getsid(pid); err == nil && session != o.session && !leads {
			found = append(found, pid)
		}
	}
	return found
}

// reap buries orphans that end by themselves while a command runs.
func (o *Orphans) reap() {
	defer close(o.over)
	for range o.died {
		if o.starting.TryLock() {
			for _, pid := range o.orphans() {
				dead(pid)
			}
			o.starting.Unlock()
		}
		time.Sleep(reapPause)
	}
}

// dead reports whether a child is dead, and buries it then.
func dead(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return got == pid || errors.Is(err, unix.ECHILD)
}

// children returns the children of all our threads. A list that is read while one
// of them ends can lack others (proc_pid_children(5)), so that two readings in a
// row must agree; where the children never rest, the last one counts.
func children() ([]int, error) {
	last, err := readChildren()
	for range 20 {
		if err != nil {
			return nil, err
		}
		var pids []int
		if pids, err = readChildren(); err == nil && slices.Equal(pids, last) {
			break
		}
		last = pids
	}
	return last, err
}

// readChildren returns them in order.
func readChildren() ([]int, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err == nil && len(lists) == 0 {
		err = errors.ErrUnsupported
	}
	var pids []int
	for _, list := range lists {
		text, rerr := os.ReadFile(list)
		if rerr != nil { // the thread has ended meanwhile; another one has its children
			continue
		}
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return pids, err
}

// marked reports whether a process was given the key of a call.
func marked(pid int, key string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && key != "" && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+keyVariable+"="+key+"\x00"))
}
