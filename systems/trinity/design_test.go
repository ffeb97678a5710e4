package trinity_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is valid, trinitydb is up to date, and no interleaving in the design's races breaks an invariant.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "trinity.design.yaml", "trinitydb")
}

// TestConditionsAreNeeded: if any one condition is removed, an invariant of the design breaks.
func TestConditionsAreNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, before, after, race, invariant string }{
		{"a yes that should have made a match", `"yes < :below"`, "yes >= 0", "Voters", "NoneLost"},
		{"a yes in a room that somebody has left", `when: "memberCount = :members", else: Raced`, "when: memberCount > 0, else: Raced", "Leaver", "NoneLost"},
		{"a match without somebody who has joined", "memberCount = :members AND version = :version", "memberCount > 0", "ThreeAndJoiner", "Unanimous"},
		{"a leaving that has not seen a yes", `"version = :version"`, "version >= 0", "Leaver", "NoneLost"},
		{"a leaving with votes", "when: votes = 0", "when: votes >= 0", "LeaverVotes", "OfMembers"},
		{"a vote of who is no member", "      - { update: Member, add: { votes: 1 }, when: closed = false, else: Closed }\n", "", "LateVoter", "OfMembers"},
		{"a joining that has not seen the match", " AND hasMatch = :hasMatch", "", "ThreeAndJoiner", "Known"},
		{"a joining that has not seen the closing", " AND closed = false\n", "\n", "Closing", "ClosedToAll"},
		{"a closing that has not seen a joining", `add: { version: 1 }, when: "version = :version", else: Raced }`, "add: { version: 1 }, when: version >= 0, else: Raced }", "Closing", "ClosedToAll"},
		{"a match with oneself", "AND yes > 1 AND", "AND yes > 0 AND", "LeaveBoth", "Unanimous"},
		{"tallies that are read stale", "many: Movie, by: [roomId], page: 40, consistent: true", "many: Movie, by: [roomId], page: 40", "VoterLeaves", "NoneLost"},
	} {
		t.Run(c.what, func(t *testing.T) {
			designcheck.Breaks(t, "trinity.design.yaml", c.before, c.after, c.race, c.invariant)
		})
	}
}
