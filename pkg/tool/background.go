package tool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxJobs    = 8        // commands that run in the background at once
	maxJobLog  = 64 << 20 // bytes kept of what one of them says
	jobSettles = 300 * time.Millisecond
	jobForever = 1000 * time.Hour // without a timeout: as long as the run
)

// jobs are the commands of one shell tool that outlive their calls. What they say
// goes to files in a directory of their own, masked; all ends with the run.
type jobs struct {
	ctx context.Context // of the run; its end ends them
	end context.CancelFunc

	mu    sync.Mutex
	dir   string // "" before the first
	begun int
	over  bool
	live  map[int]*job
}

type job struct {
	done   chan struct{} // closed when it has ended and its file says so
	result Result        // set before
}

func newJobs() *jobs {
	ctx, end := context.WithCancel(context.Background())
	return &jobs{ctx: ctx, end: end, live: map[int]*job{}}
}

// place takes a number and a file for another job.
func (j *jobs) place() (n int, log *os.File, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.over:
		return 0, nil, fmt.Errorf("the run has ended")
	case len(j.live) >= maxJobs:
		return 0, nil, fmt.Errorf("%d commands run in the background already: end one of them first", maxJobs)
	}
	if j.dir == "" {
		if j.dir, err = os.MkdirTemp("", "kagent-background-"); err != nil {
			return 0, nil, fmt.Errorf("there is no place for its output: %w", reason(err))
		}
	}
	n = j.begun + 1
	log, err = os.OpenFile(filepath.Join(j.dir, fmt.Sprintf("%d.log", n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, nil, fmt.Errorf("there is no place for its output: %w", reason(err))
	}
	j.begun, j.live[n] = n, &job{done: make(chan struct{})}
	return n, log, nil
}

// gone ends a job.
func (j *jobs) gone(n int, r Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.live[n].result = r
	close(j.live[n].done)
	delete(j.live, n)
}

// close ends all jobs and waits until they are gone.
func (j *jobs) close() error {
	j.mu.Lock()
	j.over = true
	var all []*job
	for _, one := range j.live {
		all = append(all, one)
	}
	dir := j.dir
	j.mu.Unlock()
	j.end()
	for _, one := range all {
		<-one.done
	}
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// Close ends what runs in the background.
func (t *shell) Close() error { return t.jobs.close() }

// background starts a command that outlives its call. One that ends at once is
// told of as any other.
func (t *shell) background(ctx context.Context, cmd command, timeout time.Duration) Result {
	n, log, err := t.jobs.place()
	if err != nil {
		return Fail(err.Error())
	}
	out := newOutput(t.opts.Keep, nil, t.opts.Mask)
	out.log = &jobLog{file: log}
	p, err := start(cmd.Cmd, out, leftBehind{t.opts.Orphans, cmd.key})
	if err != nil {
		log.Close()
		t.jobs.gone(n, Result{})
		return Fail(notStarted(err))
	}
	t.jobs.mu.Lock()
	one, dir := t.jobs.live[n], t.jobs.dir
	t.jobs.mu.Unlock()
	relieved := t.watch(p.cmd.Process.Pid, dir)
	go func() {
		e := p.wait(t.jobs.ctx, timeout, t.opts)
		relieved()
		r := report(p, e, timeout)
		out.log.end(e.notes(&Result{}, timeout))
		t.jobs.gone(n, r)
	}()
	settled := time.NewTimer(jobSettles)
	defer settled.Stop()
	select {
	case <-one.done:
		return one.result
	case <-settled.C:
	case <-ctx.Done():
	}
	return Success(fmt.Sprintf("[it runs in the background, as process %d, until it ends or this run does; a later run does not have it]\n"+
		"[its output goes to %s: read that by this tool, for example with tail; its last line will say how it ended]\n"+
		"[to end it: kill -TERM -%d]", p.cmd.Process.Pid, log.Name(), p.cmd.Process.Pid))
}

// watchScript takes the group of a job and the directory of the outputs.
const watchScript = `read _; kill -KILL "-$1"; rm -rf -- "$2"`

// watch has a process of its own end a job, and remove what is kept of it, should
// this one be killed: else what the job has started would live on, and no run could
// go on with the session. Its input ends when we do.
func (t *shell) watch(pid int, dir string) (relieved func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watchScript, "kagent-watch", fmt.Sprint(pid), dir)
	cmd.Stdin, cmd.Dir, cmd.Env = r, "/", []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if t.opts.Orphans.start(cmd) != nil {
		w.Close()
		return func() {}
	}
	return func() {
		_ = cmd.Process.Kill() // first: it takes the end of its input for ours
		t.opts.Orphans.wait(cmd)
		w.Close()
	}
}

// jobLog is the file for what a job says.
type jobLog struct {
	file *os.File
	size int64
	err  error
}

func (l *jobLog) write(b []byte) {
	if l == nil || l.err != nil {
		return
	}
	b = b[:min(int64(len(b)), maxJobLog-l.size)]
	n, err := l.file.Write(b)
	l.size, l.err = l.size+int64(n), err
}

// end notes how it ended, as far as the disk takes it.
func (l *jobLog) end(notes []string) {
	defer l.file.Close()
	if len(notes) == 0 {
		notes = []string{"[exit code 0]"}
	}
	if l.size >= maxJobLog {
		notes = append([]string{fmt.Sprintf("[output beyond %d bytes was not kept]", maxJobLog)}, notes...)
	}
	_, _ = fmt.Fprintf(l.file, "\n%s\n", strings.Join(notes, "\n"))
}
