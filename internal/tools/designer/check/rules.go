package check

import "slices"

// Rule is an entry in the catalogue.
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	// Refused is set if DynamoDB itself rejects a violation, so that a finding cannot be accepted.
	Refused bool `json:"refused,omitempty"`
	// Command is the command that reports the rule if it is not check: some violations show only when the design runs, or
	// in the code that uses it.
	Command string `json:"command,omitempty"`
}

// Rules returns the catalogue, ordered by ID. Each rule has a page in docs/rules.
func Rules() []Rule { return slices.Clone(rules) }

func ruleOf(id string) Rule {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}
	}
	return rules[i]
}

//nolint:gochecknoglobals // the catalogue
var rules = []Rule{
	{ID: "ST001", Severity: Error, Title: "an acceptance matches no finding"},
	{ID: "ST002", Severity: Error, Title: "a field can never have the value of a constant or parameter"},
	{ID: "ST003", Severity: Error, Title: "a sample is not a valid item"},

	{ID: "ST101", Severity: Error, Title: "two items can have the same primary key"},
	{ID: "ST102", Severity: Error, Title: "different field values produce the same key"},
	{ID: "ST103", Severity: Error, Title: "a key uses a field that may be missing or does not exist"},
	{ID: "ST104", Severity: Error, Title: "a write changes a field of the primary key", Refused: true},
	{ID: "ST105", Severity: Warning, Title: "a key does not sort like its values"},
	{ID: "ST106", Severity: Warning, Title: "upper and lower case produce two keys for one value"},
	{ID: "ST107", Severity: Error, Title: "a key can be longer than DynamoDB allows", Refused: true},
	{ID: "ST108", Severity: Error, Title: "an index key can be empty", Refused: true},
	{ID: "ST109", Severity: Info, Title: "the same value has several prefixes or formats"},
	{ID: "ST110", Severity: Error, Title: "two entities cannot be told apart"},

	{ID: "ST201", Severity: Error, Title: "no key can serve a read"},
	{ID: "ST202", Severity: Error, Title: "a read also returns other entities"},
	{ID: "ST203", Severity: Warning, Title: "a filter discards items that have been paid for"},
	{ID: "ST204", Severity: Error, Title: "the requested order is not the key's order"},
	{ID: "ST205", Severity: Error, Title: "a strongly consistent read from a global index", Refused: true},
	{ID: "ST206", Severity: Error, Title: "a prefix ends inside a value"},
	{ID: "ST207", Severity: Error, Title: "an index lacks attributes that a read returns"},
	{ID: "ST208", Severity: Warning, Title: "a read expects one item from an index that can hold several"},
	{ID: "ST209", Severity: Warning, Title: "a list has no bound"},
	{ID: "ST210", Severity: Info, Title: "the root of a collection sorts last"},
	{ID: "ST211", Severity: Warning, Title: "a read queries many partitions"},
	{ID: "ST212", Severity: Warning, Title: "no read uses an index or copy"},
	{ID: "ST213", Severity: Warning, Title: "a collection reads items that it does not return"},
	{ID: "ST214", Severity: Error, Title: "a filter contradicts the condition of a sparse index"},
	{ID: "ST215", Severity: Warning, Title: "a read by period matches only one instant"},

	{ID: "ST301", Severity: Warning, Title: "a partition key has few values"},
	{ID: "ST302", Severity: Error, Title: "a partition exceeds DynamoDB's throughput limit"},
	{ID: "ST303", Severity: Warning, Title: "a partition grows without bound"},
	{ID: "ST304", Severity: Error, Title: "a read returns other tenants' items"},
	{ID: "ST305", Severity: Error, Title: "a read by ID does not check who owns the item"},
	{ID: "ST306", Severity: Warning, Title: "one item takes many writes"},
	{ID: "ST307", Severity: Info, Title: "keys only increase, so a hot partition cannot split"},

	{ID: "ST401", Severity: Error, Title: "one record has several entries in the same index"},
	{ID: "ST402", Severity: Error, Title: "an index key is not a scalar attribute", Refused: true},
	{ID: "ST403", Severity: Error, Title: "a projection names a path, which projects nothing"},
	{ID: "ST404", Severity: Info, Title: "an index projects everything"},
	{ID: "ST405", Severity: Info, Title: "a composed index key could be a multi-attribute key"},
	{ID: "ST406", Severity: Warning, Title: "an index duplicates the table or another index"},
	{ID: "ST407", Severity: Error, Title: "more indexes or projected attributes than DynamoDB allows"},
	{ID: "ST408", Severity: Error, Title: "a secret is copied into an index or copy"},
	{ID: "ST409", Severity: Warning, Title: "an optional field is in an index key"},
	{ID: "ST410", Severity: Error, Title: "a write changes part of an index key without the rest"},
	{ID: "ST411", Severity: Info, Title: "items are in an index that the design does not declare for them"},
	{ID: "ST412", Severity: Error, Title: "two index entries of one item can apply at the same time"},

	{ID: "ST501", Severity: Error, Title: "uniqueness is assumed but not enforced"},
	{ID: "ST502", Severity: Warning, Title: "a put overwrites whatever is there"},
	{ID: "ST503", Severity: Error, Title: "no write keeps a duplicate in sync"},
	{ID: "ST504", Severity: Error, Title: "a transaction can have more than 100 actions", Refused: true},
	{ID: "ST505", Severity: Error, Title: "a transaction can be larger than 4 MB", Refused: true},
	{ID: "ST506", Severity: Error, Title: "a transaction touches one item twice", Refused: true},
	{ID: "ST507", Severity: Warning, Title: "a repeated request repeats its effect"},
	{ID: "ST508", Severity: Warning, Title: "an update depends on an earlier read but has no condition"},
	{ID: "ST509", Severity: Error, Title: "an update uses a path that may be absent, or overlapping paths", Refused: true},
	{ID: "ST510", Severity: Error, Title: "a write does not check a declared limit"},
	{ID: "ST511", Severity: Warning, Title: "a batch contains items that need conditions or copies"},
	{ID: "ST512", Severity: Warning, Title: "transactions conflict on one item"},
	{ID: "ST513", Severity: Error, Title: "an interleaving of requests breaks an invariant", Command: "races"},
	{ID: "ST514", Severity: Error, Title: "an idempotency key is not scoped to the caller, never expires, or compares nothing"},
	{ID: "ST515", Severity: Error, Title: "code expects the wrong error from a cancelled transaction", Command: "vet"},
	{ID: "ST516", Severity: Info, Title: "two parameters of a write can name the same item"},
	{ID: "ST517", Severity: Warning, Title: "a delete does not decrement the counter that the create incremented"},
	{ID: "ST518", Severity: Warning, Title: "a delete leaves dependent items behind"},
	{ID: "ST519", Severity: Error, Title: "a decimal is added to a whole number"},
	{ID: "ST520", Severity: Info, Title: "a new item may refer to a missing item"},

	{ID: "ST601", Severity: Error, Title: "an item can be larger than 400 KB", Refused: true},
	{ID: "ST602", Severity: Warning, Title: "a large item is read or written often"},
	{ID: "ST603", Severity: Warning, Title: "a list or map has no bound"},
	{ID: "ST604", Severity: Warning, Title: "a small field that changes often is inside a large item"},

	{ID: "ST701", Severity: Error, Title: "the TTL attribute is not a number of seconds"},
	{ID: "ST702", Severity: Warning, Title: "a read can return expired items"},
	{ID: "ST703", Severity: Warning, Title: "dependent items outlive an expiring item, or expire first"},
	{ID: "ST704", Severity: Warning, Title: "an expiring item is counted"},
	{ID: "ST705", Severity: Info, Title: "an expired item can block a new one"},

	{ID: "ST801", Severity: Info, Title: "what a pattern costs"},
	{ID: "ST802", Severity: Warning, Title: "the design costs more than its budget"},

	{ID: "ST901", Severity: Error, Title: "the design does not say what happens to personal data"},
	{ID: "ST902", Severity: Error, Title: "no read finds a person's items"},
	{ID: "ST903", Severity: Warning, Title: "a person's data outlives the deadline for erasure"},
}
