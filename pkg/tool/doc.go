// Package tool holds what an agent can do to the world: the Tool interface,
// the set offered to a model, the check of arguments, and the built-in tools.
// It knows no sessions and no agents.
//
// # Decisions
//
// All of 2026-12-01. Each is here because a reader would ask.
//
// Arguments are checked, never repaired. A model that wrote broken JSON meant
// something; guessing what would run a tool on a guess. It gets the place of
// the error and what the tool takes, and tries again. The one leniency is that
// nothing at all counts as {}, since several services send that for tools
// without parameters. Whole numbers may be spelled 3.0, as JSON Schema says.
//
// File tools work through directory handles. A path is resolved one component
// at a time, each directory opened relative to the one before, links expanded
// by hand. So no spelling, and no rename during the walk, leads out of the work
// directory or into a hidden one; the latter are recognised by file identity.
// What this does not cover: hard links and bind mounts made inside the work
// directory lead where they lead, and the shell is not bound by it at all. That
// is the sandbox's work.
//
// The shell's command is not parsed. A list of words can't say what a script
// does ("find -exec", "git -c core.pager=…", an alias), and one that claims to
// is trusted more than it deserves. Permission is given to the command as a
// whole; confinement is the operating system's.
//
// The environment is an allow list. The variables of a CI job hold the keys to
// everything it can reach, under names that nobody can list in advance, so what
// is not known to be harmless stays out. Proxy settings stay out too: they
// often carry passwords. ShellOptions.Env names what a command does need.
//
// Commands get a session of their own (setsid, which includes a process group):
// without a controlling terminal a password prompt fails at once; with one it
// would stop the command and hold the call until its time is up.
//
// A call ends when its shell ends. What it left running is killed then, so that no
// call leaves effects that come after its result: its group, and, on Linux with
// ShellOptions.Orphans, what has left the group (setsid, daemons). Orphans come to
// us as the nearest sub-reaper; we tell them by their session, which is never ours,
// since a process can only found a session, not join one. Which call an orphan
// belongs to while several run, its environment says; what has wiped that is
// killed when no other command runs. Processes that another service starts on
// request (docker, at, systemd-run) are out of reach. Where something lives on, the
// result says so as far as it holds the output, and the descriptors of
// ShellOptions.Inherit show it to the next run.
//
// A call with background set is the exception: what it starts lives until the run
// ends (Set.Close). A process of its own watches each, and ends its group should we be
// killed: else a server would keep the session from being gone on with. What it says goes,
// masked, up to 64 MiB, to a file in a private temporary directory that the shell can
// read; a handle and a tool to read it by would be one more thing to learn, and a
// path and a process number every model knows. Its result is recorded at once and
// says so, so that a resumed run does not look for it; killed in between, the call
// is in doubt like any other.
//
// Output is bounded while it is read: 16 KiB of head and as much of tail, for
// errors stand at the end and context at the beginning. A read_file call brings
// up to 256 KiB, list_files up to 1000 entries, glob 1000 paths, grep 1000
// matching lines and 64 KiB, edit_file 8 KiB of diff. A byte that can't be shown
// (NUL, invalid UTF-8) becomes the three bytes of U+FFFD; only in the shell's
// output may that raise the size, to three times the bound.
//
// Of an output that exceeds this the whole is kept as an artifact, up to 64 MiB
// by the session's store. It is written while the output comes and begins when
// the bounds are passed, so that short outputs cost nothing and long ones no
// memory. The note at the gap names the first 16 digits of its hash: a model
// has to copy them, and 64 bits are enough for one session. Any path with
// artifact: before it is a reference, never a file; ./artifact:x is the file.
// A command that was stopped with its run keeps none, for its result is not
// recorded.
//
// Written files are synced, and so are their directories. The log promises that
// a finished call is never run again; after a power cut its file must be there
// too. That costs a few milliseconds a file. Replacing through a rename has two
// prices: other hard links to the file keep the old content, and extended
// attributes are lost. Owner and mode are kept. Links are split on purpose, and
// the result says so: a package manager's store, a copy made of links and any
// name outside the work directory must not change with the file, and a write in
// place could be cut in the middle.
//
// The temporary file's name is fixed, so that a kill leaves at most one of them
// for each file, which the next write removes. Writes of one Workspace take
// turns for that reason.
//
// A search is bounded in time, too: eight seconds, a million names, a hundred
// levels. What it has by then is its result, and the result says that it was
// cut. It goes in the order of the paths' bytes, so that the first thousand are
// the same ones each time.
//
// .gitignore is read by our own code. That of go-git was measured against git
// on 42 rules: it differs on eight, among them **/a/b, [!a] and what follows
// x/**, and needs six more modules. Ours is tested against git itself. Counted
// are the files in the work directory, whether or not there is a repository,
// and neither those above it nor the user's own list, which we may not read. A
// directory or file that is named as path is searched though it be ignored.
//
// ripgrep is not used. On 26,000 files of 333 MB it takes 0.2 to 0.3 s and we
// 0.4 to 1.3 s. For that second we would run a program found by a search path,
// which a tool that only reads must not do, open files by names that may have
// become links meanwhile, and, in every version of it, need the same results
// from a syntax that is not RE2 (its \w, \d and \b are Unicode's). Looking for
// the literals of an expression first brings most of the speed.
//
// grep matches line by line, the CR of a CRLF not counted. A NUL in the first
// 8 KiB makes a file binary. Of a line longer than a mebibyte the rest is not
// searched, and the result says so. Expressions beyond 3000 instructions are
// refused: time is linear in both, and a match can't be interrupted.
//
// edit_file never guesses either. A text must be there exactly once, overlaps
// counted; the answer to a near miss says where it is and what differs. One
// thing is translated: models read and write LF, so that LF in an edit stands
// for the line ends that the file has at that place, and what old and new have
// in common is not written at all. An edit with a CR in it means its bytes.
//
// web_fetch looks at addresses when it connects, not at names before: a name can
// lead elsewhere a moment later, and redirects lead anywhere. What is no public
// address is refused: this machine, private networks, and where clouds tell their
// machines of keys. Behind a proxy the names are looked up here too, as far as they
// are known here; what a proxy makes of others is its owner's to say. It sends GET
// alone, without cookies, keys or Referer, and so may be repeated after a crash. The
// markup is taken away in one pass over the tokens of golang.org/x/net/html: a page of
// any form must cost no more than its length. (2026-12-01: html-to-markdown v2, which
// renders a tree, took 138 s for 256 KiB of opening brackets and 11 s for a mebibyte of
// table rows, can't be stopped, and refuses what is nested deeper than 512.)
package tool
