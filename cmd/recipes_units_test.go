package cmd

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// crontab reads one as cron does: assignments, then lines of five fields and a
// command, in which a % ends the command unless it is escaped.
func crontab(t *testing.T, text string) (env, commands []string) {
	t.Helper()
	assignment := regexp.MustCompile(`^[A-Za-z_]+\s*=`)
	entry := regexp.MustCompile(`^((?:[0-9*/,-]+\s+){5})(\S.*)$`)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		m := entry.FindStringSubmatch(line)
		switch {
		case assignment.MatchString(line):
			env = append(env, line)
		case m == nil:
			t.Fatalf("no line of a crontab: %s", line)
		default:
			command := strings.ReplaceAll(m[2], `\%`, "\x00")
			if strings.Contains(command, "%") {
				t.Errorf("cron would end the command at its %%: %s", line)
			}
			commands = append(commands, strings.ReplaceAll(command, "\x00", "%"))
		}
	}
	return env, commands
}

func TestTheCrontabDoesOneThingADayAndIsSilentThen(t *testing.T) {
	d := newDesk(t)
	env, commands := crontab(t, readPage(t, recipesPage).under(t, "cron", "crontab"))
	if len(commands) != 2 || !slices.ContainsFunc(env, func(s string) bool { return strings.HasPrefix(s, "KAGENT_MODEL=") }) {
		t.Fatalf("%q, %q", env, commands)
	}
	d.must("mkdir app")
	d.set("KAGENT_RETRIES", "0")
	d.script(downOnce)
	if out, said, code := d.sh(commands[0]); code != 75 || out != "" || !strings.Contains(said, "session report-20") {
		t.Errorf("first: exit %d, %q\n%s", code, out, said)
	}
	if out, _ := d.must(commands[0]); out != "" || d.read("app/reports.md") != "here it is\n" {
		t.Errorf("second: %q, reports.md is %q", out, d.read("app/reports.md"))
	}
	if out, said := d.must(commands[0]); out+said != "" || d.read("app/reports.md") != "here it is\n" {
		t.Errorf("there was nothing to do, and cron mails %q", out+said)
	}
	if out, _ := d.must("(" + commands[1] + "); kagent list -q --dir app/.kagent-sessions"); !strings.HasPrefix(out, "report-20") {
		t.Errorf("a session of today was removed: %q", out)
	}
}

// unit reads a unit file: section.key to its values.
func unit(t *testing.T, text string) map[string][]string {
	t.Helper()
	all, section := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, assigned := strings.Cut(line, "=")
		switch {
		case line == "":
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case !assigned || section == "":
			t.Fatalf("no line of a unit: %s", line)
		default:
			all[section+"."+key] = append(all[section+"."+key], value)
		}
	}
	return all
}

func TestTheUnitsAreWhatSystemdTakes(t *testing.T) {
	files := readPage(t, recipesPage).all("systemd", "ini")
	service, timer := unit(t, files[0]), unit(t, files[1])
	for key, want := range map[string]string{"Service.RestartForceExitStatus": "75", "Service.StateDirectory": "kagent", "Service.KillMode": "mixed"} {
		if got := service[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %s", key, got, want)
		}
	}
	if timer["Timer.OnCalendar"] == nil || timer["Install.WantedBy"] == nil {
		t.Errorf("the timer has only %q", slices.Sorted(maps.Keys(timer)))
	}
	need(t, "systemd-analyze")
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "kagent-report.service"), filepath.Join(dir, "kagent-report.timer")}
	for i, name := range names {
		write(t, name, files[i], 0o644)
	}
	out, err := exec.Command("systemd-analyze", append([]string{"verify", "--man=no"}, names...)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "kagent-report") { // others are of the machine's own units
			t.Errorf("systemd-analyze: %s", line)
		}
	}
	if err != nil && len(out) == 0 {
		t.Error(err)
	}
}

func TestTheServiceRunsAndGoesOn(t *testing.T) {
	d := newDesk(t)
	service := unit(t, readPage(t, recipesPage).all("systemd", "ini")[0])
	line := strings.NewReplacer("%%", "%", "$$", "$").Replace(service["Service.ExecStart"][0])
	d.set("KAGENT_RETRIES", "0")
	d.script(downOnce)
	if _, _, code := d.sh(line + " </dev/null"); code != 75 {
		t.Errorf("exit %d, want what has it started again", code)
	}
	d.must(line + " </dev/null")
	if d.read("report.md") != "here it is\n" {
		t.Errorf("report.md is %q", d.read("report.md"))
	}
}
