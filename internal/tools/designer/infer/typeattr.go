package infer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/plural"
)

// typeNames are common names of type attributes, without case and underscores.
func typeNames() []string {
	return []string{"entitytype", "type", "entity", "itemtype", "typename", "et", "kind", "model", "edbe", "ot", "recordtype", "objecttype"}
}

// versionAttr is the attribute in which ElectroDB stores the version of an item's model. The version is a literal in
// keys.
const versionAttr = "__edb_v__"

// typeLike matches plausible names of types.
var typeLike = regexp.MustCompile(`^[A-Za-z$_][A-Za-z0-9$_.:/\\-]*$`) //nolint:gochecknoglobals // compiled once

// findTypeAttribute looks for the type attribute: its text is the same in all items whose keys start alike, but not the
// same in all items.
func (t *tableDraft) findTypeAttribute() {
	begins := map[string][]*row{}
	for _, r := range t.rows {
		k := beginning(keyText(r.item[t.PK.Name])) + "\x00" + beginning(keyText(r.item[t.SK.Name]))
		begins[k] = append(begins[k], r)
	}
	best, most := "", 0.0
	for _, name := range sorted(attributes(t.rows)) {
		score := t.typeScore(name, begins)
		if score > most {
			best, most = name, score
		}
	}
	if best == "" {
		return
	}
	t.typeAttr = best
	values := map[string]bool{}
	n := 0
	for _, r := range t.rows {
		if s, ok := r.item[best].(*types.AttributeValueMemberS); ok {
			r.kind = s.Value
			values[s.Value] = true
			n++
		}
	}
	t.typeNote = fmt.Sprintf("guess: in %s, with %s, one per key prefix", t.share(n, len(t.rows)), plural.Of(len(values), "value"))
}

// beginning is the literal with which a key seems to start.
func beginning(key string) string {
	pieces := split(key, nil)
	if len(pieces) == 0 || !wordLike(pieces[0].text) {
		return ""
	}
	return pieces[0].text
}

// typeScore is how well an attribute separates items with different keys; 0 if it does not.
func (t *tableDraft) typeScore(name string, begins map[string][]*row) float64 {
	if name == t.PK.Name || name == t.SK.Name || name == t.TTLAttr || t.inIndexKey(name) {
		return 0
	}
	values := map[string]bool{}
	has, alike := 0, 0
	for _, rows := range begins {
		counts := map[string]int{}
		for _, r := range rows {
			if s, ok := r.item[name].(*types.AttributeValueMemberS); ok && s.Value != "" {
				counts[s.Value]++
				has++
			}
		}
		most := 0
		for value, n := range counts {
			values[value] = true
			most = max(most, n)
		}
		alike += most
	}
	for value := range values {
		if !typeLike.MatchString(value) {
			return 0
		}
	}
	usual := slices.Contains(typeNames(), strings.ToLower(strings.Trim(strings.ReplaceAll(name, "_", ""), "_")))
	share := float64(has) / float64(len(t.rows))
	switch {
	case has == 0, float64(alike) < 0.98*float64(has), len(values) < 2 && !usual:
		return 0
	case share < 0.4, !usual && (share < 0.8 || has < 3*len(values)), len(values) > 2+len(begins):
		return 0
	}
	if usual {
		share++
	}
	return share
}

// inIndexKey reports whether an attribute is in the key of an index.
func (t *tableDraft) inIndexKey(name string) bool {
	is := func(k Key) bool { return k.Name == name }
	return slices.ContainsFunc(t.Indexes, func(x Index) bool { return slices.ContainsFunc(x.PK, is) || slices.ContainsFunc(x.SK, is) })
}
