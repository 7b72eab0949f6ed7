package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"kagent/pkg/message"
)

// storable returns parts as the log can hold them: whatever is no UTF-8 would
// read otherwise there, and a resume would not see what this run saw. Vendor's
// data that are no JSON could not be written at all, nor read again where they
// are nested too deep.
//
// Secrets are masked, where nothing depends on each character. Elsewhere, in what
// a vendor has signed and in calls, only the keys are that the service itself was
// sent: no model writes them by chance. What was signed is then sent back no more.
func (r *Runner) storable(parts []message.Part, stop message.StopReason) []message.Part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].Text = message.Clean(out[i].Text)
		if !json.Valid(out[i].Opaque) || message.Nesting(out[i].Opaque) > maxNesting {
			out[i].Opaque = nil
		}
	}
	if stop == message.StopLength {
		r.withoutCutKey(out)
	}
	r.withoutKeys(out)
	for i, p := range out {
		if len(p.Opaque) == 0 {
			out[i].Text = r.Mask.Mask(p.Text)
		}
	}
	return out
}

// newMasks names what was masked in the text of a reply. A mask that the model
// repeats, as it was shown it, has lost nothing.
func (r *Runner) newMasks(said, stored []message.Part) (names []string) {
	before := map[string]int{}
	for _, name := range r.Mask.Masks(message.Message{Parts: said}.Text()) {
		before[name]++
	}
	for _, name := range r.Mask.Masks(message.Message{Parts: stored}.Text()) {
		if before[name]--; before[name] < 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// withoutCutKey masks the beginning of a key in whose middle a reply was cut. What
// a vendor has signed it has not cut.
func (r *Runner) withoutCutKey(parts []message.Part) {
	if len(parts) == 0 || len(parts[len(parts)-1].Opaque) > 0 {
		return
	}
	last := &parts[len(parts)-1]
	last.Text = r.Mask.MaskCutKey(last.Text)
	if last.Call != nil {
		cut := *last.Call
		cut.Arguments = r.Mask.MaskCutKey(cut.Arguments)
		last.Call = &cut
	}
}

// withoutKeys masks keys in what a service said. Where that changes anything that
// vendor's data belong to, none of the reply's are sound: they know of each other.
func (r *Runner) withoutKeys(parts []message.Part) {
	unsound := r.maskTexts(parts, message.TypeText)
	unsound = r.maskTexts(parts, message.TypeReasoning) || unsound
	for i, p := range parts {
		unsound = unsound || r.Mask.HoldsKey(string(p.Opaque))
		if c := p.Call; c != nil {
			unsound = unsound || len(p.Opaque) > 0 && r.Mask.HoldsKey(c.Name+" "+c.Arguments)
			parts[i].Call = r.call(*c)
		}
	}
	for i, p := range parts {
		if unsound && len(p.Opaque) > 0 {
			parts[i].Opaque = message.Masked(p.Opaque, r.Mask.HoldsKey(string(p.Opaque)))
		}
		if unsound && p.Call != nil {
			p.Call.ID = "" // by it the vendor would know its reply, and miss the thoughts
		}
	}
}

// maskTexts masks keys in the parts of a kind: as they are read, one after the
// other, a key may begin in one and end in the next. It reports whether one of
// them has vendor's data.
func (r *Runner) maskTexts(parts []message.Part, kind message.PartType) (tied bool) {
	var texts []string
	for _, p := range parts {
		if p.Type == kind {
			texts = append(texts, p.Text)
		}
	}
	texts = r.Mask.MaskKeysAcross(texts)
	for i, p := range parts {
		if p.Type == kind {
			tied = tied || p.Text != texts[0] && len(p.Opaque) > 0
			parts[i].Text, texts = texts[0], texts[1:]
		}
	}
	return tied
}

// call returns a call without keys. One whose arguments hold a mask is refused
// when its turn comes, so that nothing is done with a mask. An id is nobody's but
// the vendor's: without it the call gets one as others do that came without.
func (r *Runner) call(c message.ToolCall) *message.ToolCall {
	out := message.ToolCall{
		ID: message.Clean(c.ID), Name: r.Mask.MaskKeys(message.Clean(c.Name)),
		Arguments: r.Mask.MaskKeys(strings.ToValidUTF8(c.Arguments, "\uFFFD")),
	}
	if r.Mask.HoldsKey(out.ID) {
		out.ID = ""
	}
	return &out
}
