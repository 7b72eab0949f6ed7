package checkpoint

import "testing"

// One of those who find an undelivered answer delivers it, and the session is
// none the worse for the mark.
func TestAnUndeliveredAnswerIsDeliveredByOne(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j, err := s.Create("s", task)
	check(t, err)
	check(t, j.Commit())
	check(t, j.Close())
	if _, ok := s.TakeUndelivered("s"); ok {
		t.Error("nothing was undelivered")
	}
	check(t, s.Delivered("s"))
	check(t, s.Undelivered("s"))
	check(t, s.Undelivered("s"))
	if r, err := s.Verify("s"); err != nil || !r.OK || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
	release, ok := s.TakeUndelivered("s")
	if !ok {
		t.Fatal("it is undelivered")
	}
	if _, ok := s.TakeUndelivered("s"); ok {
		t.Error("two deliver it")
	}
	release() // it failed once more
	release, ok = s.TakeUndelivered("s")
	if !ok {
		t.Fatal("it is undelivered still")
	}
	check(t, s.Delivered("s"))
	release()
	if _, ok := s.TakeUndelivered("s"); ok {
		t.Error("it is delivered")
	}
}
