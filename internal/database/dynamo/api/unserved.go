package api

import (
	"slices"
	"strings"
)

// unserved are the operations of the SDK that the table does not have yet, by subject. An operation that a
// new SDK brings stands here until it is served.
var unserved = map[string][]string{}

// Unserved returns the operation that a target calls if DynamoDB has it and the table does not.
func Unserved(target string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(target, TargetPrefix); !ok {
		return "", false
	}
	for _, names := range unserved {
		if slices.Contains(names, name) {
			return name, true
		}
	}
	return "", false
}
