//go:build faults

package faults

// The errors of a disk, each as one failed call and as a disk that stays like
// that. The lab knows which calls may fail with which.
const (
	diskErrors = "ENOSPC,ENOSPC+,EINTR,EMFILE,EMFILE+,EDQUOT,EDQUOT+,EROFS,EROFS+,short"
	allCalls   = "open,write,fsync,fdatasync,rename,unlink,trunc,mkdir,link,chmod,falloc,close,read"
)

// errorSweeps are failed calls and full disks. That a run which met an error
// that stayed doesn't exit 0 is a rule of the check (storage_test.go).
func errorSweeps() []sweep {
	failing := []string{"--errors", diskErrors}
	broken := []string{"--errors", "EIO,EIO+", "--kinds", allCalls}
	return []sweep{
		{
			name: "a call fails", tool: "errsweep", run: "run.sh", recover: "verified.sh",
			args: failing, short: []string{"--every", "9"},
		},
		{
			name: "a call fails with EIO", tool: "errsweep", run: "run.sh", recover: "verified.sh",
			args: broken, short: []string{"--every", "7"},
		},
		{
			name: "a call of a resume fails", tool: "errsweep", setup: "paused.sh", run: "resume.sh", recover: "verified.sh",
			args: failing, short: []string{"--every", "23"},
		},
		{
			name: "a call of a recovery fails", tool: "errsweep", setup: "torn.sh", run: "resume.sh", recover: "verified.sh",
			args: broken, short: []string{"--every", "11"},
		},
		{
			name: "a call of a reader fails", tool: "errsweep", setup: "finished.sh", run: "show.sh", check: "read",
			args: []string{"--errors", "EIO,EIO+,EMFILE,EMFILE+,EINTR", "--kinds", "open,read,close"},
		},
		{
			name: "no room can be reserved", tool: "errsweep", run: "run.sh", recover: "verified.sh",
			args: []string{"--errors", "ENOTSUP,ENOTSUP+,ENOSYS,ENOSYS+", "--kinds", "falloc"},
		},
		{
			name: "a full disk", tool: "diskfull", run: "run.sh", recover: "recover.sh",
			args: []string{"--check-full", whileFull, "--inodes"}, short: []string{"--step", "4"},
		},
		{
			name: "a full disk, ext4", tool: "diskfull", run: "run.sh", recover: "recover.sh", mounts: true,
			args: []string{"--check-full", whileFull, "--fs", "ext4"}, slow: true,
		},
		{
			name: "a limit of the size of files", tool: "diskfull", run: "run.sh", recover: "verified.sh",
			args: []string{"--fs", "rlimit"}, short: []string{"--step", "16"},
		},
	}
}

// whileFull is the check that runs before there is room again.
const whileFull = `FAULTS_CHECK=1 FL_RECOVERED=0 exec "$FAULTS_EXE"`

// damagedFiles are those that a session is read from, or locked by.
const damagedFiles = ".kagent-sessions/s1.json,.kagent-sessions/s1/events.jsonl,.kagent-sessions/s1/*lock"

// damageSweeps change files of a session in every simple way.
func damageSweeps() []sweep {
	sweeps := []sweep{
		{
			name: "damage, shown", tool: "corrupt", setup: "finished.sh", run: "show.sh", check: "loaded",
			args:  []string{"--files", damagedFiles, "--exits", "0,5", "--max-rss-mb", "300"},
			short: []string{"--per-file", "20"},
		},
		{
			name: "damage, resumed", tool: "corrupt", setup: "finished.sh", first: "paused.sh", run: "untouched.sh", check: "resumed",
			args:  []string{"--files", damagedFiles, "--exits", "0,5"},
			short: []string{"--per-file", "10"},
		},
		{
			name: "bombs", tool: "corrupt", setup: "finished.sh", run: "show.sh", check: "loaded", slow: true,
			args: []string{"--files", damagedFiles, "--exits", "0,5", "--max-rss-mb", "300", "--bombs", "--per-file", "1"},
		},
	}
	for _, command := range []string{"show --", "resume --", "rm --", "verify --", "run --model demo hello --session"} {
		sweeps = append(sweeps, sweep{
			name: "hostile ids, " + command, tool: "corrupt", setup: "finished.sh", run: "show.sh", check: "loaded",
			args: []string{"--files", "none", "--exits", "0,2,3", "--refuse-id", "--id-cmd", "{kagent} " + command + " {id}"},
		})
	}
	return sweeps
}
