//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The table that every workload uses.
//
//	item#NNNNNNNNNN / 0        the preloaded items of about 1 KB, and those that writes add
//	part#NNNNNNNNNN / 00…19    partitions of 20 items of about 400 B, also under GSI1
//
// Both kinds of items are in both indexes.
const (
	tableName  = "bench"
	partitions = 500
	perPart    = 20
	digits     = 10 // of a number in a request
)

// workload is one kind of request, prepared so that sending it costs next to nothing.
type workload struct {
	name        string
	transaction bool
	// stream enables the table's stream while the workload runs. Its cost is monotable's own floor.
	stream bool
	// contended lets requests of different connections conflict on an item and be rejected with TransactionConflict.
	contended bool
	// consumes reports that each request uses up an item. Enough of them are stored before the clock starts.
	consumes bool
	// echoBytes is the response size of the bare echo for this workload; 0 omits the echo.
	echoBytes int
	// entries is the number of entries of the store that a request writes, or deletes if it consumes, or reads if it is a Scan.
	// A written item has three: itself and two index entries. With 0 the echo with a store is omitted.
	entries int
	target  string
	body    func(items int) template
}

// storeWork is what the echo with a store does with entries.
func (w workload) storeWork() string {
	switch {
	case w.consumes:
		return "delete"
	case w.target == "Scan":
		return "read"
	default:
		return "write"
	}
}

// writes reports whether the requests write.
func (w workload) writes() bool {
	switch w.target {
	case "GetItem", "Query", "Scan", "BatchGetItem":
		return false
	default:
		return true
	}
}

// template is a request body with numbers to fill in before each send.
type template struct {
	body  []byte
	slots []slot
}

// slot is a sequence of digits to fill in.
type slot struct {
	at    int
	kind  slotKind
	bound int // existing, common, spread: numbers are below it
	// class is the remainder of the number divided by classes, so that no request contains an item twice: common, spread
	class, classes int
}

type slotKind uint8

const (
	existing slotKind = iota // a random number below bound, reserved for the connection
	fresh                    // a number never used before
	mixed                    // alternately existing and fresh
	common                   // a random number below bound, shared by all connections
	spread                   // like common, for requests with more items
)

// commonClasses and spreadClasses are the maximum numbers of items in a request with slots of these kinds.
const (
	commonClasses = 5
	spreadClasses = 25
)

// workloads lists them in the order of the report. Those with a stream come last: they run on monotable only.
func workloads() []workload {
	all := plainWorkloads()
	for _, name := range []string{"put", "transact"} {
		w := all[slices.IndexFunc(all, func(w workload) bool { return w.name == name })]
		w.name, w.stream, w.echoBytes, w.entries = name+streamSuffix, true, 0, 0
		all = append(all, w)
	}
	return all
}

// streamSuffix ends the name of a workload with a stream; the rest is the name of the workload without it.
const streamSuffix = "+stream"

func plainWorkloads() []workload {
	return []workload{
		{name: "get", target: "GetItem", echoBytes: 1100, body: func(items int) template {
			return parse(items, `{"TableName":"bench","Key":{"PK":{"S":"item#<existing>"},"SK":{"S":"0"}}}`)
		}},
		{name: "getconsistent", target: "GetItem", echoBytes: 1100, body: func(items int) template {
			return parse(items, `{"TableName":"bench","ConsistentRead":true,"Key":{"PK":{"S":"item#<existing>"},"SK":{"S":"0"}}}`)
		}},
		{name: "put", target: "PutItem", echoBytes: 2, entries: 3, body: func(items int) template {
			return parse(items, `{"TableName":"bench","Item":`+item("<mixed>")+`}`)
		}},
		{name: "condput", target: "PutItem", echoBytes: 2, entries: 3, body: func(items int) template {
			return parse(items, `{"TableName":"bench","Item":`+item("<fresh>")+`,"ConditionExpression":"attribute_not_exists(PK)"}`)
		}},
		{name: "update", target: "UpdateItem", echoBytes: 2, entries: 3, body: func(items int) template {
			return parse(items, `{"TableName":"bench","Key":{"PK":{"S":"item#<existing>"},"SK":{"S":"0"}},`+
				`"UpdateExpression":"SET n = n + :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`)
		}},
		{name: "delete", target: "DeleteItem", consumes: true, echoBytes: 2, entries: 3, body: func(items int) template {
			return parse(items, `{"TableName":"bench","Key":{"PK":{"S":"item#<fresh>"},"SK":{"S":"0"}}}`)
		}},
		{name: "query", target: "Query", echoBytes: 9800, body: func(int) template {
			return parse(partitions, `{"TableName":"bench","KeyConditionExpression":"PK = :p","ExpressionAttributeValues":{":p":{"S":"part#<existing>"}}}`)
		}},
		{name: "queryconsistent", target: "Query", echoBytes: 9800, body: func(int) template {
			return parse(partitions, `{"TableName":"bench","ConsistentRead":true,"KeyConditionExpression":"PK = :p","ExpressionAttributeValues":{":p":{"S":"part#<existing>"}}}`)
		}},
		{name: "querygsi", target: "Query", echoBytes: 9800, body: func(int) template {
			return parse(partitions, `{"TableName":"bench","IndexName":"GSI1","KeyConditionExpression":"GSI1PK = :p","ExpressionAttributeValues":{":p":{"S":"gpart#<existing>"}}}`)
		}},
		{name: "scan", target: "Scan", echoBytes: 100_000, entries: 100, body: func(items int) template {
			return parse(items, `{"TableName":"bench","Limit":100,"ExclusiveStartKey":{"PK":{"S":"item#<existing>"},"SK":{"S":"0"}}}`)
		}},
		{name: "batchget", target: "BatchGetItem", echoBytes: 27_000, body: func(items int) template {
			keys := make([]string, spreadClasses)
			for i := range keys {
				keys[i] = `{"PK":{"S":"item#<spread>"},"SK":{"S":"0"}}`
			}
			return parse(items, `{"RequestItems":{"bench":{"Keys":[`+strings.Join(keys, ",")+`]}}}`)
		}},
		{name: "batchwrite", target: "BatchWriteItem", echoBytes: 40, entries: 75, body: func(items int) template {
			puts := make([]string, 25)
			for i := range puts {
				puts[i] = `{"PutRequest":{"Item":` + item("<fresh>") + `}}`
			}
			return parse(items, `{"RequestItems":{"bench":[`+strings.Join(puts, ",")+`]}}`)
		}},
		{name: "transact", transaction: true, target: "TransactWriteItems", echoBytes: 2, entries: 15, body: func(items int) template {
			actions := []string{`{"Update":{"TableName":"bench","Key":{"PK":{"S":"item#<existing>"},"SK":{"S":"0"}},` +
				`"UpdateExpression":"SET n = n + :one","ConditionExpression":"attribute_exists(PK)","ExpressionAttributeValues":{":one":{"N":"1"}}}}`}
			for range 4 {
				actions = append(actions, `{"Put":{"TableName":"bench","Item":`+item("<fresh>")+`}}`)
			}
			return parse(items, `{"TransactItems":[`+strings.Join(actions, ",")+`]}`)
		}},
	}
}

// clusterWorkloads returns the workloads for servers that share a store: the usual ones, one item that all connections write, and
// transactions that conflict.
func clusterWorkloads() []workload {
	usual := []string{"get", "put", "put" + streamSuffix, "condput", "update", "query", "transact"}
	chosen := slices.DeleteFunc(workloads(), func(w workload) bool { return !slices.Contains(usual, w.name) })
	one := `{"TableName":"bench","Key":{"PK":{"S":"item#%s"},"SK":{"S":"0"}},` +
		`"UpdateExpression":"SET n = n + :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`
	return append(chosen,
		workload{name: "hotupdate", target: "UpdateItem", body: func(items int) template {
			return parse(items, fmt.Sprintf(one, strings.Repeat("0", digits)))
		}},
		workload{name: "hottransact", target: "TransactWriteItems", contended: true, body: func(items int) template {
			action := `{"Update":` + fmt.Sprintf(one, "<common>") + `}`
			return parse(min(items, 5000), `{"TransactItems":[`+strings.Repeat(action+",", commonClasses-1)+action+`]}`)
		}})
}

func workloadNames(all []workload) []string {
	var names []string
	for _, w := range all {
		names = append(names, w.name)
	}
	return names
}

func chooseWorkloads(all []workload, choice string) ([]workload, error) {
	if choice == "all" {
		return all, nil
	}
	var chosen []workload
	for name := range strings.SplitSeq(choice, ",") {
		i := slices.Index(workloadNames(all), name)
		if i < 0 {
			return nil, fmt.Errorf("no workload %q: choose among %s", name, strings.Join(workloadNames(all), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// item returns an item of about 1 KB whose keys contain a number.
func item(number string) string {
	return `{"PK":{"S":"item#` + number + `"},"SK":{"S":"0"},` +
		`"GSI1PK":{"S":"g1#` + number + `"},"GSI1SK":{"S":"0"},"GSI2PK":{"S":"g2#` + number + `"},"GSI2SK":{"S":"0"},` +
		`"n":{"N":"1"},"status":{"S":"ACTIVE"},"tags":{"SS":["a","b","c"]},` +
		`"address":{"M":{"city":{"S":"Guadalajara"},"zip":{"S":"44100"}}},"payload":{"S":"` + strings.Repeat("x", 800) + `"}}`
}

// partItem returns an item of about 400 B in a partition of 20.
func partItem(partition, n int) string {
	return fmt.Sprintf(`{"PK":{"S":"part#%0*d"},"SK":{"S":"%02d"},"GSI1PK":{"S":"gpart#%0*d"},"GSI1SK":{"S":"%02d"},`+
		`"GSI2PK":{"S":"gpart2#%0*d"},"GSI2SK":{"S":"%02d"},"n":{"N":"%d"},"status":{"S":"ACTIVE"},"payload":{"S":"%s"}}`,
		digits, partition, n, digits, partition, n, digits, partition, n, n, strings.Repeat("y", 250))
}

// parse finds the slots of a body; consecutive slots of one item get the same number.
func parse(bound int, text string) template {
	var t template
	kinds := map[string]slotKind{"<existing>": existing, "<fresh>": fresh, "<mixed>": mixed, "<common>": common, "<spread>": spread}
	for text != "" {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			t.body = append(t.body, text...)
			break
		}
		end := open + strings.IndexByte(text[open:], '>') + 1
		t.body = append(t.body, text[:open]...)
		s := slot{at: len(t.body), kind: kinds[text[open:end]], bound: bound, classes: commonClasses}
		if s.kind == spread {
			s.classes = spreadClasses
		}
		s.class = len(t.slots) % s.classes
		t.slots = append(t.slots, s)
		t.body = append(t.body, strings.Repeat("0", digits)...)
		text = text[end:]
	}
	return t
}

// filler generates the numbers of one connection's requests. Each of n connections uses every nth number, so that transactions
// never conflict.
type filler struct {
	random      *rand.Rand
	connection  int // 0 to connections-1
	connections int
	next        int // the last fresh number
	turn        bool
}

// fill writes new numbers into body. The three slots of one item (its key and two index keys) get the same number, which makes
// the request an overwrite.
func (f *filler) fill(body []byte, slots []slot) {
	for i := 0; i < len(slots); {
		number := f.number(slots[i])
		group := 1
		if slots[i].kind == fresh || slots[i].kind == mixed {
			group = min(3, len(slots)-i)
		}
		for _, s := range slots[i : i+group] {
			putDigits(body[s.at:s.at+digits], number)
		}
		i += group
	}
}

func (f *filler) number(s slot) int {
	kind := s.kind
	if kind == common || kind == spread {
		return f.random.IntN(s.bound/s.classes)*s.classes + s.class
	}
	if kind == mixed {
		f.turn = !f.turn
		kind = fresh
		if f.turn {
			kind = existing
		}
	}
	if kind == existing {
		return f.random.IntN(s.bound/f.connections)*f.connections + f.connection
	}
	f.next += f.connections
	return f.next
}

func putDigits(b []byte, number int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + number%10)
		number /= 10
	}
}
