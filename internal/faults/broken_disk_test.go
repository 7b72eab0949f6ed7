//go:build faults

package faults

// The sweeps that find programs which are broken where a disk is. They are
// narrower than those of the program as it is.
var (
	syncFails = sweep{
		tool: "errsweep", run: "run.sh", recover: "verified.sh",
		args: []string{"--errors", "EIO", "--kinds", "fsync"}, short: []string{"--every", "2"},
	}
	staysFull = sweep{
		tool: "errsweep", run: "run.sh", recover: "verified.sh",
		args: []string{"--errors", "ENOSPC+", "--kinds", "open,write,rename"}, short: []string{"--every", "3"},
	}
	diskFull = sweep{
		tool: "diskfull", run: "run.sh", recover: "recover.sh",
		args: []string{"--check-full", whileFull},
	}
	limited = sweep{
		tool: "diskfull", run: "run.sh", recover: "verified.sh",
		args: []string{"--fs", "rlimit"},
	}
	shown = sweep{
		tool: "corrupt", setup: "finished.sh", run: "show.sh", check: "loaded",
		args: []string{"--files", ".kagent-sessions/s1/events.jsonl", "--exits", "0,5", "--per-file", "20"},
	}
	resumed = sweep{
		tool: "corrupt", setup: "finished.sh", first: "paused.sh", run: "untouched.sh", check: "resumed",
		args: []string{"--files", ".kagent-sessions/s1/events.jsonl", "--exits", "0,5", "--per-file", "20"},
	}
)

const (
	lines     = "pkg/checkpoint/line.go"
	artifacts = "pkg/checkpoint/artifact.go"
)

var brokenOnDisk = []broken{
	{
		"failed sync tried again",
		[]edit{{journal, "if err := j.log.Sync(); err != nil {", "err := j.log.Sync()\nif err != nil {\nerr = j.log.Sync()\n}\nif err != nil {"}},
		syncFails, "exit 0 after a failed sync", false,
	},
	{
		"error of a sync ignored",
		[]edit{{journal, "if err := j.log.Sync(); err != nil {", "if err := j.log.Sync(); err != nil && false {"}},
		syncFails, "exit 0 after a failed sync", true,
	},
	{
		"journal goes on after a failed sync",
		[]edit{{journal, "j.dead = storage(\"sync \"+j.paths.log, err)\n\t\treturn j.dead", "return storage(\"sync \"+j.paths.log, err)"}},
		syncFails, "written after its sync had failed", false,
	},
	{
		"checkpoint that can't be written ignored",
		[]edit{{journal, "if err != nil {\n\t\treturn storage(fmt.Sprintf(", "if err != nil && false {\n\t\treturn storage(fmt.Sprintf("}},
		staysFull, "exit 0 although the error stayed", false,
	},
	{
		"failed write not cut back",
		[]edit{{journal, "if terr := j.cutBack(); terr != nil {", "if terr := error(nil); terr != nil {"}},
		limited, "of a failed write stand behind", false,
	},
	{
		"no room reserved before an effect",
		[]edit{{calls, "if err := r.reserve(room); err != nil {", "if err := error(nil); err != nil {"}},
		diskFull, "there was no room for its result", false,
	},
	{
		"artifact not synced before it is named",
		[]edit{{artifacts, "err := a.file.Sync()", "err := error(nil)"}},
		powerCut, "lost: the artifact", true,
	},
	{
		"checksum of a line not checked",
		[]edit{{
			lines, "if string(line[len(crcOpen):len(crcOpen)+8]) != crcText(crc) {",
			"crc = 0\nfor _, d := range line[len(crcOpen) : len(crcOpen)+8] {\nv := uint32(d - '0')\nif d >= 'a' {\nv -= 'a' - '0' - 10\n}\n" +
				"crc = crc<<4 | v\n}\nif false {",
		}},
		shown, "^silent", false,
	},
	{
		"chain of the lines not checked",
		[]edit{{scans, "if rec.Seq != s.seq+1 {", "if false {"}, {scans, "if rec.prev != s.crc {", "if false {"}},
		shown, "^silent", false,
	},
	{
		"damage taken for a torn end",
		[]edit{
			{scans, "if rec.dur > s.seq {", "if false {"},
			{scans, "if promised.Seq > s.seq || rec.dur > s.seq {", "if false {"},
			{scans, "if promised.Seq > s.seq {", "if false {"},
		},
		resumed, "(lost|changed): event", false,
	},
	{
		"damage cut off although it is refused",
		[]edit{{opening, "return rec, readError(id, j.paths.log, err)", "_ = j.log.Truncate(sc.end)\nreturn rec, readError(id, j.paths.log, err)"}},
		resumed, "changed, although it was refused", true,
	},
}
