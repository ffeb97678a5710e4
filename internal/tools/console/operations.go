package console

import (
	"encoding/json"
	"fmt"
	"strings"
)

// effect is the kind of access of an operation.
type effect int

const (
	reads effect = iota + 1
	writes
	states // depends on its statement
)

// operations are the operations called by the page.
var operations = map[string]effect{
	"ListTables":                reads,
	"DescribeTable":             reads,
	"DescribeTimeToLive":        reads,
	"DescribeContinuousBackups": reads,
	"GetItem":                   reads,
	"Query":                     reads,
	"Scan":                      reads,
	"ListTagsOfResource":        reads,

	"CreateTable":             writes,
	"UpdateTable":             writes,
	"DeleteTable":             writes,
	"UpdateTimeToLive":        writes,
	"UpdateContinuousBackups": writes,
	"PutItem":                 writes,
	"UpdateItem":              writes,
	"DeleteItem":              writes,
	"BatchWriteItem":          writes,
	"TagResource":             writes,
	"UntagResource":           writes,

	"ExecuteStatement": states,

	// Streams, backups and exports.
	"DescribeStream":   reads,
	"GetShardIterator": reads,
	"GetRecords":       reads,

	"ListBackups":                 reads,
	"CreateBackup":                writes,
	"DeleteBackup":                writes,
	"RestoreTableFromBackup":      writes,
	"RestoreTableToPointInTime":   writes,
	"ListExports":                 reads,
	"DescribeExport":              reads,
	"ExportTableToPointInTime":    writes, // writes to a bucket
	"ListImports":                 reads,
	"DescribeImport":              reads,
	"ImportTable":                 writes,
	"UpdateContributorInsights":   writes,
	"DescribeContributorInsights": reads,

	"GetInsightRuleReport": reads,
	"GetMetricData":        reads,
	"ListMetrics":          reads,
	"DescribeAlarms":       reads,

	// Only on monotable servers.
	"DescribeServer":  reads,
	"ListWarnings":    reads,
	"ListItemChanges": reads,
	"CompareTable":    reads,
}

// admit returns the body of an operation if the call is allowed.
func admit(name string, body []byte, readOnly bool) ([]byte, error) {
	does, known := operations[name]
	switch {
	case !known:
		return nil, &refusal{"UnknownOperation", fmt.Sprintf("The console does not call %q.", name)}
	case !readOnly || does == reads:
		return body, nil
	case does == states:
		return admitStatement(body)
	default:
		return nil, &refusal{"ReadOnly", fmt.Sprintf("The console is read-only: it does not call %s.", name)}
	}
}

// statement is the input of ExecuteStatement.
type statement struct {
	Statement              string
	Parameters             json.RawMessage `json:",omitempty"`
	ConsistentRead         json.RawMessage `json:",omitempty"`
	NextToken              json.RawMessage `json:",omitempty"`
	Limit                  json.RawMessage `json:",omitempty"`
	ReturnConsumedCapacity json.RawMessage `json:",omitempty"`
}

// admitStatement returns the body of a read statement. It is re-encoded, so that the endpoint reads exactly the statement that
// was checked: a body may contain a member twice. A statement that begins with SELECT changes nothing, and a request has one
// statement.
func admitStatement(body []byte) ([]byte, error) {
	var input statement
	if err := json.Unmarshal(body, &input); err != nil {
		return nil, fmt.Errorf("the body is no input of ExecuteStatement: %w", err)
	}
	if words := strings.Fields(input.Statement); len(words) == 0 || !strings.EqualFold(words[0], "SELECT") {
		return nil, &refusal{"ReadOnly", "The console is read-only: it runs statements that begin with SELECT."}
	}
	return json.Marshal(input)
}
