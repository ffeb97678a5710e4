package differential

import (
	"slices"
	"testing"
)

// minimiseTries bounds the runs for minimizing one difference.
const minimiseTries = 300

// minimise returns a shorter sequence whose last request still shows a difference with the same signature: it first removes
// requests, then members of the remaining requests. A difference that is triaged has another cause and does not count.
func (c *comparison) minimise(t *testing.T, requests []request, d difference) ([]request, difference) {
	t.Helper()
	signature, tries := d.signature(), 0
	shows := func(candidate []request) bool {
		if tries++; tries > minimiseTries {
			return false
		}
		shown := false
		c.run(t, candidate, func(i int, ours, theirs outcome) bool {
			found := difference{request: candidate[i], ours: ours, theirs: theirs}
			if i == len(candidate)-1 && !ours.same(theirs) && found.signature() == signature && found.triaged(c.triage) == "" {
				d, shown = found, true
			}
			return ours.same(theirs) || !found.changesState()
		})
		return shown
	}
	for i := len(requests) - 2; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(requests), i, i+1); shows(without) {
			requests = without
		}
	}
	for i := len(requests) - 1; i >= 0; i-- {
		for at := 1; ; {
			smaller := requests[i].clone()
			left := at
			smaller.body = replace(smaller.body, &left, func(any) (any, bool) { return nil, false })
			if left >= 0 {
				break // there are no more members
			}
			candidate := slices.Clone(requests)
			if candidate[i] = smaller; shows(candidate) {
				requests = candidate
			} else {
				at++
			}
		}
	}
	return requests, d
}
