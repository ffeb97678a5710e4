package infer

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/tools/designer/source"
)

// GuessKeys guesses the primary key of a table from its items: attributes that every item has and whose values are unique.
// Attributes with common key names come first, and a single attribute before a pair.
func GuessKeys(items []source.Item) (pk, sk Key, err error) {
	candidates := keyCandidates(items)
	distinct := func(names ...string) bool {
		met := map[string]bool{}
		for _, item := range items {
			var id strings.Builder
			for _, n := range names {
				id.WriteString(keyText(item[n]) + "\x00")
			}
			if met[id.String()] {
				return false
			}
			met[id.String()] = true
		}
		return true
	}
	key := func(name string) Key {
		if name == "" {
			return Key{}
		}
		return Key{name, storedAs(items[0][name])}
	}
	// Two attributes with key names are the key even if one of them would be unique in these items.
	for _, first := range candidates {
		if second := partnerOf(first); slices.Contains(candidates, second) && distinct(first, second) {
			return key(first), key(second), nil
		}
	}
	for _, name := range candidates {
		if distinct(name) {
			return key(name), Key{}, nil
		}
	}
	for _, first := range candidates {
		for _, second := range candidates {
			if first != second && distinct(first, second) {
				return key(first), key(second), nil
			}
		}
	}
	return Key{}, Key{}, errors.New("no one or two attributes are in every item and identify it: give the key, such as --key PK,SK")
}

// keyCandidates are the attributes that could be in a key, the most likely first.
func keyCandidates(items []source.Item) []string {
	var out []string
	if len(items) == 0 {
		return nil
	}
	for _, name := range sorted(items[0]) {
		of := storedAs(items[0][name])
		if of != "S" && of != "N" && of != "B" {
			continue
		}
		if !slices.ContainsFunc(items, func(item source.Item) bool { return storedAs(item[name]) != of || keyText(item[name]) == "" }) {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(keyRank(a), keyRank(b)) })
	return out
}

// keyRank ranks a name as a partition key; 0 is the most common.
func keyRank(name string) int {
	switch n := letters(name); {
	case usualIndexKey(name):
		return 9
	case slices.Contains([]string{"pk", "partitionkey", "hashkey", "hk"}, n):
		return 0
	case n == "id":
		return 1
	case strings.HasSuffix(n, "id"):
		return 2
	default:
		return 3
	}
}

// partnerOf is the name of the sort key that matches the name of a partition key: SK for PK; "" if unknown.
func partnerOf(pk string) string {
	for first, second := range map[string]string{
		"PK": "SK", "pk": "sk", "Pk": "Sk", "partitionKey": "sortKey", "PartitionKey": "SortKey", "partition_key": "sort_key",
		"hashKey": "rangeKey", "hash_key": "range_key", "hk": "sk",
	} {
		if pk == first {
			return second
		}
	}
	return ""
}

// ParseKeys parses a primary key in the notation of a flag: PK,SK.
func ParseKeys(text string, items []source.Item) (pk, sk Key, err error) {
	names := strings.Split(text, ",")
	if len(names) > 2 || slices.Contains(names, "") {
		return Key{}, Key{}, errors.New("want one or two attributes, such as PK,SK")
	}
	var keys [2]Key
	for i, name := range names {
		keys[i].Name = strings.TrimSpace(name)
		for _, item := range items {
			of := storedAs(item[keys[i].Name])
			if keys[i].Type != "" && keys[i].Type != of || of != "S" && of != "N" && of != "B" {
				return Key{}, Key{}, errors.New("the attribute " + keys[i].Name + " is not a string, number or binary value in every item")
			}
			keys[i].Type = of
		}
	}
	return keys[0], keys[1], nil
}

// indexKey matches common names of index key attributes.
var indexKey = regexp.MustCompile(`^(?i)([gl]si)[-_]?(\d*)[-_]?(pk|sk|hk|rk|hash|range|partition|sort)(?:[-_]?key)?$`) //nolint:gochecknoglobals // compiled once

// GuessIndexes guesses the indexes of a table from the names of its attributes: GSI1PK and GSI1SK are the key of GSI1. An
// attribute with a value that DynamoDB rejects as the key of an index is none, whatever its name.
func GuessIndexes(items []source.Item) []Index {
	types := map[string]string{}
	unfit := map[string]bool{}
	for _, item := range items {
		for name, v := range item {
			if !indexKey.MatchString(name) {
				continue
			}
			of := storedAs(v)
			if types[name] != "" && types[name] != of || of != "S" && of != "N" && of != "B" || keyText(v) == "" {
				unfit[name] = true
			}
			types[name] = of
		}
	}
	maps.DeleteFunc(types, func(name, _ string) bool { return unfit[name] })
	by := map[string]*Index{}
	var names []string
	for _, name := range sorted(types) {
		m := indexKey.FindStringSubmatch(name)
		index := strings.ToUpper(m[1]) + m[2]
		x := by[index]
		if x == nil {
			x = &Index{Name: index, Local: strings.EqualFold(m[1], "lsi"), Projection: "ALL"}
			by[index] = x
			names = append(names, index)
		}
		switch strings.ToLower(m[3]) {
		case "sk", "rk", "range", "sort":
			x.SK = []Key{{name, types[name]}}
		default:
			x.PK = []Key{{name, types[name]}}
		}
	}
	var out []Index
	for _, name := range names {
		if x := by[name]; x.Local && len(x.SK) == 1 || !x.Local && len(x.PK) == 1 {
			out = append(out, *x)
		}
	}
	return out
}

// GuessTTL guesses the TTL attribute: a number of seconds since 1970 with a common name for it; "" if there is none.
func GuessTTL(items []source.Item) string {
	usual := []string{"ttl", "expiresat", "expires", "expireat", "expiry", "expiration", "expirationtime", "timetolive"}
	for _, name := range sorted(attributesOf(items)) {
		if !slices.Contains(usual, letters(name)) {
			continue
		}
		const year2001, year5138 = 10, 11 // digits
		if !slices.ContainsFunc(items, func(item source.Item) bool {
			v, there := item[name]
			n := len(keyText(v))
			return there && (storedAs(v) != "N" || n < year2001 || n > year5138)
		}) {
			return name
		}
	}
	return ""
}

func attributesOf(items []source.Item) map[string]bool {
	out := map[string]bool{}
	for _, item := range items {
		for name := range item {
			out[name] = true
		}
	}
	return out
}
