//go:build soak

package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	sessions  = 20
	fullTime  = 10 * time.Minute
	fullSteps = 2000
)

func TestNothingIsLostOrDoneTwiceWhateverHappens(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	drivers := make([]*driver, sessions)
	for i := range drivers {
		drivers[i] = w.newDriver(i)
		all.Go(drivers[i].work)
	}
	var beside sync.WaitGroup
	beside.Go(w.operate)
	beside.Go(w.resumers)
	beside.Go(w.fillDisk)
	all.Wait()
	close(w.over)
	beside.Wait()
	w.disk.free()
	w.judge(drivers)
	w.figures(drivers)
}

// setting reads a variable of the environment.
func setting[T any](t *testing.T, name string, missing T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return missing
	}
	v, err := parse(text)
	if err != nil {
		t.Fatalf("%s is %q: %v", name, text, err)
	}
	return v
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	return setting(t, "SOAK_SEED", rand.Uint64N(1e9), func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
}

func timeOf(t *testing.T) time.Duration {
	t.Helper()
	return setting(t, "SOAK_TIME", fullTime, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err == nil && d <= 0 {
			err = fmt.Errorf("want more than nothing, as 10m")
		}
		return d, err
	})
}
