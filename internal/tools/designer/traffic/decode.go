package traffic

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// request is a request in the form in which it is compared with patterns.
type request struct {
	operation string
	keys      []access
	query     *query // of a Query or Scan
	writes    []touch
	statement string
	// tables are the tables of the design by their real names.
	tables map[string]*design.Table
}

// access is a key that is read. The table is nil if it is not in the design.
type access struct {
	table *design.Table
	key   attr.Item
}

// query is a Query or Scan.
type query struct {
	table                     *design.Table
	index                     string
	conditions                []eval.KeyPredicate
	backward, filtered, count bool
}

// touch is an item that is written.
type touch struct {
	action action
	table  *design.Table
	item   attr.Item // its key, or all of it for a put
	// changed are the attributes that an update changes; set are those that it assigns values.
	changed []string
	set     map[string]attr.Value
}

type action uint8

const (
	put action = iota + 1
	update
	remove
	check
)

// decode decodes a request. It omits what it cannot decode, so that no pattern fits.
func (m *Matcher) decode(tables map[string]string, operation string, input []byte) *request {
	r := &request{operation: operation, tables: map[string]*design.Table{}}
	for _, t := range m.design.Tables {
		own := tables[t.Name]
		if own == "" {
			own = t.Physical
		}
		r.tables[own] = t
	}
	if len(input) > 0 && decoders[operation] != nil {
		decoders[operation](r, input)
	}
	return r
}

// decoders are the operations that are compared.
var decoders = map[string]func(*request, []byte){
	"GetItem":               decoding(getItem),
	"BatchGetItem":          decoding(batchGetItem),
	"TransactGetItems":      decoding(transactGetItems),
	"Query":                 decoding(queryItems),
	"Scan":                  decoding(scanItems),
	"PutItem":               decoding(putItem),
	"UpdateItem":            decoding(updateItem),
	"DeleteItem":            decoding(deleteItem),
	"BatchWriteItem":        decoding(batchWriteItem),
	"TransactWriteItems":    decoding(transactWriteItems),
	"ExecuteStatement":      decoding(func(r *request, in *api.ExecuteStatementInput) { r.statement = aws.ToString(in.Statement) }),
	"ExecuteTransaction":    decoding(executeTransaction),
	"BatchExecuteStatement": decoding(batchExecuteStatement),
}

func decoding[In any](f func(*request, *In)) func(*request, []byte) {
	return func(r *request, input []byte) {
		in := new(In)
		if wire.Decode(input, in) == nil {
			f(r, in)
		}
	}
}

// tableNamed returns a table by its name or ARN.
func (r *request) tableNamed(name *string) *design.Table {
	_, own, isARN := strings.Cut(aws.ToString(name), ":table/")
	if !isARN {
		own = aws.ToString(name)
	}
	return r.tables[own]
}

func (r *request) get(table *string, key attr.Item) {
	r.keys = append(r.keys, access{r.tableNamed(table), key})
}

func getItem(r *request, in *api.GetItemInput) { r.get(in.TableName, in.Key) }

func batchGetItem(r *request, in *api.BatchGetItemInput) {
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, key := range in.RequestItems[name].Keys {
			r.get(&name, key)
		}
	}
}

func transactGetItems(r *request, in *api.TransactGetItemsInput) {
	for _, t := range in.TransactItems {
		if t.Get != nil { // the server rejects a request without it, which is observed, too
			r.get(t.Get.TableName, t.Get.Key)
		}
	}
}

const selectCount = "COUNT"

func queryItems(r *request, in *api.QueryInput) {
	q := &query{
		table: r.tableNamed(in.TableName), index: aws.ToString(in.IndexName), backward: in.ScanIndexForward != nil && !*in.ScanIndexForward,
		filtered: in.FilterExpression != nil || len(in.QueryFilter) > 0, count: aws.ToString(in.Select) == selectCount,
	}
	var err error
	if in.KeyConditionExpression == nil {
		q.conditions, err = eval.LowerKeyConditions(in.KeyConditions)
	} else if b, fault := eval.NewBinder(in.ExpressionAttributeNames, in.ExpressionAttributeValues); fault == nil {
		q.conditions, err = b.KeyCondition(*in.KeyConditionExpression)
	}
	if err == nil {
		r.query = q
	}
}

func scanItems(r *request, in *api.ScanInput) {
	r.query = &query{
		table: r.tableNamed(in.TableName), index: aws.ToString(in.IndexName),
		filtered: in.FilterExpression != nil || len(in.ScanFilter) > 0, count: aws.ToString(in.Select) == selectCount,
	}
}

func putItem(r *request, in *api.PutItemInput) { r.touch(put, in.TableName, in.Item) }

func deleteItem(r *request, in *api.DeleteItemInput) { r.touch(remove, in.TableName, in.Key) }

func (r *request) touch(a action, table *string, it attr.Item) *touch {
	r.writes = append(r.writes, touch{action: a, table: r.tableNamed(table), item: it})
	return &r.writes[len(r.writes)-1]
}

func updateItem(r *request, in *api.UpdateItemInput) {
	t := r.touch(update, in.TableName, in.Key)
	for name := range in.AttributeUpdates {
		t.changed = append(t.changed, name)
	}
	t.changes(in.UpdateExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
}

func batchWriteItem(r *request, in *api.BatchWriteItemInput) {
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, w := range in.RequestItems[name] {
			if w.PutRequest != nil {
				r.touch(put, &name, w.PutRequest.Item)
			}
			if w.DeleteRequest != nil {
				r.touch(remove, &name, w.DeleteRequest.Key)
			}
		}
	}
}

func transactWriteItems(r *request, in *api.TransactWriteItemsInput) {
	for _, w := range in.TransactItems {
		switch {
		case w.Put != nil:
			r.touch(put, w.Put.TableName, w.Put.Item)
		case w.Delete != nil:
			r.touch(remove, w.Delete.TableName, w.Delete.Key)
		case w.ConditionCheck != nil:
			r.touch(check, w.ConditionCheck.TableName, w.ConditionCheck.Key)
		case w.Update != nil:
			r.touch(update, w.Update.TableName, w.Update.Key).
				changes(w.Update.UpdateExpression, w.Update.ExpressionAttributeNames, w.Update.ExpressionAttributeValues)
		}
	}
}

func executeTransaction(r *request, in *api.ExecuteTransactionInput) {
	for _, s := range in.TransactStatements {
		r.statement += aws.ToString(s.Statement) + "; "
	}
}

func batchExecuteStatement(r *request, in *api.BatchExecuteStatementInput) {
	for _, s := range in.Statements {
		r.statement += aws.ToString(s.Statement) + "; "
	}
}

// changes adds what an UpdateExpression changes.
func (t *touch) changes(text *string, names map[string]string, values attr.Item) {
	if text == nil {
		return
	}
	e, err := expr.Parse(expr.Update, *text)
	if err != nil {
		return
	}
	t.set = map[string]attr.Value{}
	for _, a := range e.Actions {
		first := a.Target.Steps[0]
		name := first.Name
		if first.Kind == expr.StepAlias {
			name = names[name]
		}
		t.changed = append(t.changed, name)
		if p, is := a.Value.(*expr.Placeholder); is && a.Verb == expr.Set && len(a.Target.Steps) == 1 {
			if v, there := values.Get(p.Name); there {
				t.set[name] = v
			}
		}
	}
}
