package infer

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/tools/designer/source"
)

// measure determines the number and size of each entity's items.
func (t *tableDraft) measure() {
	for _, e := range t.entities {
		if e.main == nil || len(e.main.rows) == 0 {
			continue
		}
		total, largest := 0, 0
		for _, r := range e.main.rows {
			n := sizeOf(r.item)
			total += n
			largest = max(largest, n)
		}
		e.volume = append(t.countOf(e), fmt.Sprintf("size: %d", total/len(e.main.rows)), fmt.Sprintf("max_size: %d", largest))
	}
}

// countOf is the number of items: per item of the parent entity, or in total.
func (t *tableDraft) countOf(e *entity) []string {
	parent := t.parentOf(e)
	lacks := func(r *row) bool { return r.values(parent.keyPaths()) == "" }
	if parent == nil || slices.ContainsFunc(e.main.rows, lacks) {
		n := float64(len(e.main.rows))
		if t.sampled() {
			n *= float64(t.Total) / float64(len(t.rows))
		}
		return []string{"count: " + strconv.FormatFloat(n, 'f', 0, 64)}
	}
	counts := map[string]int{}
	for _, r := range e.main.rows {
		counts[r.values(parent.keyPaths())]++
	}
	list := make([]int, 0, len(counts))
	for _, n := range counts {
		list = append(list, n)
	}
	slices.Sort(list)
	return []string{"per: " + parent.name, fmt.Sprintf("typical: %d", list[len(list)/2]), fmt.Sprintf("max: %d", list[len(list)-1])}
}

// parentOf is the entity to which this one's items belong: its key is part of this one's, and nearly each item has one of
// its items. Among several it is the one with the longest key, in the partition key, and with a matching name.
func (t *tableDraft) parentOf(e *entity) *entity {
	own, pk := e.keyPaths(), e.main.pk.fields()
	var best *entity
	most := 0
	for _, other := range t.entities {
		if other == e || other.main == nil || len(other.main.rows) == 0 || len(other.main.identity()) == 0 {
			continue
		}
		keys := other.main.identity()
		if len(keys) >= len(own) || slices.ContainsFunc(keys, func(p string) bool { return !slices.Contains(own, p) }) {
			continue
		}
		score := 100*len(keys) + affinity(other.name, keys[len(keys)-1])
		if !slices.ContainsFunc(keys, func(p string) bool { return !slices.Contains(pk, p) }) {
			score += 10
		}
		if score > most && t.mostlyHaveParent(e, other) {
			best, most = other, score
		}
	}
	return best
}

// mostlyHaveParent reports whether nearly all items of an entity have an item of the other.
func (t *tableDraft) mostlyHaveParent(e, parent *entity) bool {
	keys := parent.main.identity()
	there := map[string]bool{}
	for _, r := range parent.main.rows {
		there[r.values(keys)] = true
	}
	n := 0
	for _, r := range e.main.rows {
		if key := r.values(keys); key != "" && there[key] {
			n++
		}
	}
	return 10*n >= 9*len(e.main.rows) || t.sampled() && 2*n >= len(e.main.rows)
}

// sizeOf is an item's approximate size, as DynamoDB counts it: names and values, plus one to three bytes of overhead
// each. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func sizeOf(item source.Item) int {
	n := 0
	for name, v := range item {
		n += len(name) + sizeOfValue(v)
	}
	return n
}

func sizeOfValue(v types.AttributeValue) int {
	const document = 3
	n := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 1
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			n += len(s)
		}
		return n
	case *types.AttributeValueMemberNS:
		for _, s := range v.Value {
			n += len(s)/2 + 1
		}
		return n
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			n += len(b)
		}
		return n
	case *types.AttributeValueMemberL:
		for _, elem := range v.Value {
			n += 1 + sizeOfValue(elem)
		}
		return document + n
	case *types.AttributeValueMemberM:
		return document + len(v.Value) + sizeOf(v.Value)
	default:
		return 1
	}
}
