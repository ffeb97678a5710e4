package api

import (
	"slices"
	"strings"
)

// unserved are the operations of the SDK that the table does not have yet, by subject. Whoever builds one moves it from
// here to the table.
var unserved = map[string][]string{
	"auto scaling of replicas": {"DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"},
	"global tables of version 2017": {
		"CreateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings", "ListGlobalTables", "UpdateGlobalTable",
		"UpdateGlobalTableSettings",
	},
}

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
