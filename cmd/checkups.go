package cmd

import (
	"crypto/x509"
	"os"
	"os/exec"
	"strings"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// What `kagent doctor` looks at.

// configuration tells what the files and the environment say.
func (f *findings) configuration(warnings []string, err error) {
	for _, w := range warnings {
		f.warn("configuration", "", "%s", w)
	}
	path := userConfigPath()
	_, missing := os.Stat(path)
	switch {
	case err != nil:
		f.refused("configuration", err)
	case path == "":
		f.warn("configuration", "set HOME or XDG_CONFIG_HOME, or name a file with --config", "there is no place for a configuration file")
	case missing != nil:
		f.ok("configuration", "nothing is wrong; there is no %s", path)
	default:
		f.ok("configuration", "nothing is wrong; %s is read", path)
	}
}

// model tells whether the configured one could be asked.
func (f *findings) model(flags *settingFlags) {
	if flags.model == "" {
		f.warn("model", "set --model, KAGENT_MODEL or `model:` in the configuration file; `--model demo` works offline", "none is configured")
		return
	}
	var s session.Settings
	way := func(name string) bool {
		return name == "model" || name == "base-url" || name == "api-key-env" || name == "header"
	}
	err := flags.apply(&s, way)
	if err == nil {
		_, err = newProvider(s)
	}
	if err != nil {
		f.refused("model", err)
		return
	}
	f.ok("model", "%s: %s", s.Model, reachedBy(s))
	f.certificates(s)
}

// reachedBy says where the keys of the session's models come from.
func reachedBy(s session.Settings) string {
	c, err := loadCatalogue()
	if err != nil {
		return oneLine(err.Error(), 200)
	}
	var said []string
	for _, name := range chainOf(s.Model) {
		service, _, _ := strings.Cut(name, "/")
		known, ok := c.Service(service)
		if !ok { // a script, or the demo
			said = append(said, "offline")
			continue
		}
		names := known.Keys
		if s.APIKeyEnv != "" && service == firstService(c, s.Model) {
			names = []string{s.APIKeyEnv}
		}
		key := "no key"
		for _, variable := range names {
			if os.Getenv(variable) != "" {
				key = "key in " + variable
				break
			}
		}
		said = append(said, key)
	}
	return strings.Join(said, ", ")
}

// certificates looks for those that https needs; images made from scratch
// often lack them.
func (f *findings) certificates(s session.Settings) {
	if !certified(s) {
		return
	}
	for _, w := range trustWarnings(s) {
		f.warn("certificates", "mend or unset it", "%s", w)
	}
	pool, err := x509.SystemCertPool()
	if err != nil || pool.Equal(x509.NewCertPool()) {
		f.problem("certificates", "install ca-certificates, or copy /etc/ssl/certs/ca-certificates.crt into the image", "there are no certificates to tell a service by")
		return
	}
	f.ok("certificates", "those of the system can be read")
}

// sessions tries out the directory, and looks at what is in it.
func (f *findings) sessions(a *app) {
	began := time.Now()
	ahead, err := checkpoint.TryOut(a.dir, time.Now)
	took := time.Since(began)
	kind := checkpoint.FileSystem(a.dir)
	switch {
	case err != nil:
		f.refused("sessions", err)
	case took > time.Second:
		f.warn("sessions", "--dir names another disk", "%s: a session can be written, synced and locked, but that took %s; each step takes a part of that", a.dir, took.Round(100*time.Millisecond))
	default:
		f.ok("sessions", "%s: a session can be written, synced and locked%s", a.dir, on(kind))
	}
	for _, why := range checkpoint.Doubts(a.dir) {
		f.warn("sessions", "--dir names another place", "%s: %s", a.dir, why)
	}
	switch kind {
	case checkpoint.Memory:
		f.warn("sessions", "--dir names a disk", "%s is in memory: sessions are gone when the machine stops", a.dir)
	case checkpoint.Overlay:
		f.warn("sessions", "--dir names a volume", "%s is inside a container: sessions are gone with it", a.dir)
	}
	list, err := a.store().List()
	if err != nil {
		f.refused("sessions", err)
	}
	f.count(list)
	f.clock(list, ahead)
}

func on(kind string) string {
	if kind == "" {
		return ""
	}
	return " (" + kind + ")"
}

func (f *findings) count(list []checkpoint.Summary) {
	damaged := 0
	for _, s := range list {
		if s.Error != "" {
			damaged++
		}
	}
	if damaged > 0 {
		f.warn("sessions", "`kagent verify` tells what is wrong", "%d of %s can't be read", damaged, plural(int64(len(list)), "session"))
	}
}

// clock compares ours with that of the disk, with the last session, and with
// the time at which this program was written.
func (f *findings) clock(list []checkpoint.Summary, ahead time.Duration) {
	const do = "set the clock: deadlines, waits that services ask for and certificates go by it"
	now := time.Now()
	written := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	switch {
	case now.Before(written):
		f.problem("clock", do, "it says %s, which is over", now.UTC().Format(time.DateOnly))
	case len(list) > 0 && list[0].UpdatedAt.After(now.Add(time.Minute)):
		f.warn("clock", do, "it says %s, and session %s is of %s", now.UTC().Format(time.RFC3339), list[0].SessionID, list[0].UpdatedAt.UTC().Format(time.RFC3339))
	case ahead.Abs() > 5*time.Second:
		f.warn("clock", do, "it and that of the disk are %s apart", ahead.Abs().Round(time.Second))
	default:
		f.ok("clock", "%s", now.UTC().Format(time.RFC3339))
	}
}

// The room below which runs are in danger, and that which they need at least.
const (
	littleRoom = 1 << 30
	leastRoom  = 64 << 20
	leastFiles = 1000
)

func (f *findings) room(dir string) {
	const do = "free some, or --dir names another disk"
	room, known := checkpoint.RoomIn(dir)
	switch {
	case !known:
	case room.Bytes < leastRoom:
		f.problem("space", do, "only %s left for the sessions", size(room.Bytes))
	case room.Files >= 0 && room.Files < leastFiles:
		f.problem("space", do, "only %d files (inodes) left for the sessions", room.Files)
	case room.Bytes < littleRoom:
		f.warn("space", do, "%s left for the sessions", size(room.Bytes))
	default:
		f.ok("space", "%s left for the sessions", size(room.Bytes))
	}
}

// programs looks for what tools, or the commands of an agent, call for.
func (f *findings) programs() {
	if _, err := os.Stat("/bin/sh"); err != nil {
		f.warn("programs", "use an image that has a shell, or leave --allow execute out", "there is no /bin/sh: the tool shell can run nothing")
	}
	if _, err := exec.LookPath("git"); err != nil {
		f.warn("programs", "install it if agents are to look at a history", "there is no git")
		return
	}
	f.ok("programs", "git is there; ripgrep is not needed, the tool grep does without")
}
