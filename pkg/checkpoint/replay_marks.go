package checkpoint

// run is a run of events whose numbers moved alike: from old on they are by
// more.
type run struct{ old, by int64 }

// moved notes where an event stands now.
func (r *replay) moved(old, now int64) {
	if n := len(r.runs); n == 0 || r.runs[n-1].by != now-old {
		r.runs = append(r.runs, run{old, now - old})
	}
}

// mark moves a watermark: what stood before it stands before it again.
func (r *replay) mark(old int64) int64 {
	if old <= 0 {
		return old
	}
	now, next := old, r.j.state.Seq+1
	for i := len(r.runs) - 1; i >= 0; i-- {
		if at := r.runs[i]; at.old <= old {
			now = old + at.by
			break
		}
		next = r.runs[i].old + r.runs[i].by
	}
	return min(now, next)
}
