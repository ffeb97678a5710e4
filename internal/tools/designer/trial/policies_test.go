package trial_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

// TestMissingPermissionsAreDetected tests that missing permissions are detected, for every action.
func TestMissingPermissionsAreDetected(t *testing.T) {
	t.Parallel()
	p := &policyChecker{strict: true}
	run, err := trial.New(load(t, "../../../../test/generated/designs/patterns.design.yaml"), trial.Options{Seed: 1, Items: fewItems, Open: p.open})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range run.Subjects() {
		if _, err := run.Try(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	for _, action := range []string{"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"} {
		if !slices.ContainsFunc(p.faults, func(fault string) bool { return strings.Contains(fault, " may not "+action+" on ") }) {
			t.Errorf("the missing action %s went unnoticed", action)
		}
	}
}

// policyChecker checks the requests of patterns: in a trial, none may exceed what provision --as iam allows.
type policyChecker struct {
	specs    []provision.Spec
	policies map[string]struct {
		Statement []struct {
			Action    []string
			Resource  string
			Condition map[string]map[string]any
		}
	}

	strict bool // the policies allow nothing

	mu     sync.Mutex
	faults []string
}

func (p *policyChecker) open(_ context.Context, w trial.World) (trial.Runner, error) {
	var text bytes.Buffer
	if err := provision.WriteIAM(&text, w.Program.Design, provision.IAM{Specs: w.Specs, Variable: "*"}); err != nil {
		return nil, err
	}
	p.specs = w.Specs
	if err := json.Unmarshal(text.Bytes(), &p.policies); err != nil {
		return nil, err
	}
	db, err := table.Open(watched{w.Client, p}, w.Config, w.Program.Tables...)
	return watchedDB{db}, err
}

// report fails the test for requests that exceeded the policies.
func (p *policyChecker) report(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range slices.Compact(slices.Sorted(slices.Values(p.faults))) {
		t.Error(fault)
	}
}

var equal = regexp.MustCompile(`(#?\w+)\s*=\s*(:\w+)`)

// asked checks an action of a pattern on an item, by its key.
func (p *policyChecker) asked(ctx context.Context, action, name, index string, key func(attribute string) types.AttributeValue) {
	resource, leading := "arn:aws:dynamodb:*:*:table/"+name, ""
	for i := range p.specs {
		if s := &p.specs[i]; s.Name == name {
			attribute := s.PK
			for _, x := range s.Indexes {
				if x.Name == index && len(x.PK) > 0 {
					attribute = x.PK[0]
				}
			}
			switch v := key(attribute).(type) {
			case *types.AttributeValueMemberS:
				leading = v.Value
			case *types.AttributeValueMemberN:
				leading = v.Value
			}
		}
	}
	if index != "" {
		resource += "/index/" + index
	}
	pattern, _ := ctx.Value(patternKey{}).(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	if pattern == "" {
		return // a request of the trial itself
	}
	for _, s := range p.policies[pattern].Statement {
		if s.Resource != resource || !slices.Contains(s.Action, "dynamodb:"+action) || p.strict {
			continue
		}
		if s.Condition == nil {
			return
		}
		for _, like := range s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"].([]any) { //nolint:forcetypeassert // the form in which it is written
			if regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(like.(string)), `\*`, ".*") + "$").MatchString(leading) { //nolint:forcetypeassert // as above
				return
			}
		}
	}
	p.faults = append(p.faults, fmt.Sprintf("%s may not %s on %s of %q", pattern, action, resource, leading))
}

// patternKey is the context key of the pattern's name.
type patternKey struct{}

// watched is a client that checks each request.
type watched struct {
	table.Client

	checker *policyChecker
}

func (c watched) item(ctx context.Context, action string, name *string, item table.Item) {
	c.checker.asked(ctx, action, *name, "", func(attribute string) types.AttributeValue { return item[attribute] })
}

func (c watched) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.item(ctx, "GetItem", in.TableName, in.Key)
	return c.Client.GetItem(ctx, in, o...)
}

func (c watched) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for name, of := range in.RequestItems {
		for _, key := range of.Keys {
			c.item(ctx, "BatchGetItem", &name, key)
		}
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}

func (c watched) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	index := ""
	if in.IndexName != nil {
		index = *in.IndexName
	}
	c.checker.asked(ctx, "Query", *in.TableName, index, func(attribute string) types.AttributeValue {
		for _, found := range equal.FindAllStringSubmatch(*in.KeyConditionExpression, -1) {
			if name, ok := in.ExpressionAttributeNames[found[1]]; ok && name == attribute || found[1] == attribute {
				return in.ExpressionAttributeValues[found[2]]
			}
		}
		return nil
	})
	return c.Client.Query(ctx, in, o...)
}

func (c watched) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.item(ctx, "PutItem", in.TableName, in.Item)
	return c.Client.PutItem(ctx, in, o...)
}

func (c watched) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c.item(ctx, "UpdateItem", in.TableName, in.Key)
	return c.Client.UpdateItem(ctx, in, o...)
}

func (c watched) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	c.item(ctx, "DeleteItem", in.TableName, in.Key)
	return c.Client.DeleteItem(ctx, in, o...)
}

func (c watched) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	for name, list := range in.RequestItems {
		for _, r := range list {
			if r.DeleteRequest != nil {
				c.item(ctx, "BatchWriteItem", &name, r.DeleteRequest.Key)
			} else {
				c.item(ctx, "BatchWriteItem", &name, r.PutRequest.Item)
			}
		}
	}
	return c.Client.BatchWriteItem(ctx, in, o...)
}

func (c watched) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, x := range in.TransactItems {
		switch {
		case x.Put != nil:
			c.item(ctx, "PutItem", x.Put.TableName, x.Put.Item)
		case x.Update != nil:
			c.item(ctx, "UpdateItem", x.Update.TableName, x.Update.Key)
		case x.Delete != nil:
			c.item(ctx, "DeleteItem", x.Delete.TableName, x.Delete.Key)
		default:
			c.item(ctx, "ConditionCheckItem", x.ConditionCheck.TableName, x.ConditionCheck.Key)
		}
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// Scan implements table.Scanner.
func (c watched) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	index := ""
	if in.IndexName != nil {
		index = *in.IndexName
	}
	c.checker.asked(ctx, "Scan", *in.TableName, index, func(string) types.AttributeValue { return nil })
	return c.Client.(table.Scanner).Scan(ctx, in, o...) //nolint:forcetypeassert // as the trial's is
}

// watchedDB puts the name of the running pattern into the context.
type watchedDB struct{ *table.DB }

func of(ctx context.Context, pattern string) context.Context {
	return context.WithValue(ctx, patternKey{}, pattern)
}

func (d watchedDB) Get(ctx context.Context, r *table.Read, in table.Input) (table.Values, error) {
	return d.DB.Get(of(ctx, r.Pattern), r, in)
}

func (d watchedDB) Batch(ctx context.Context, r *table.Read, in []table.Input) ([]table.Values, error) {
	return d.DB.Batch(of(ctx, r.Pattern), r, in)
}

func (d watchedDB) Page(ctx context.Context, r *table.Read, in table.Input, o table.PageOptions) (table.Page[table.Values], error) {
	return d.DB.Page(of(ctx, r.Pattern), r, in, o)
}

func (d watchedDB) List(ctx context.Context, r *table.Read, in table.Input) ([]table.Values, error) {
	return d.DB.List(of(ctx, r.Pattern), r, in)
}

func (d watchedDB) All(ctx context.Context, r *table.Read, in table.Input) iter.Seq2[table.Values, error] {
	return d.DB.All(of(ctx, r.Pattern), r, in)
}

func (d watchedDB) Count(ctx context.Context, r *table.Read, in table.Input) (int, error) {
	return d.DB.Count(of(ctx, r.Pattern), r, in)
}

func (d watchedDB) Collect(ctx context.Context, c *table.Collection, in table.Input, o table.PageOptions) (table.Page[table.Found], error) {
	return d.DB.Collect(of(ctx, c.Pattern), c, in, o)
}

func (d watchedDB) Write(ctx context.Context, w *table.Write, in table.Input) (table.Outcome, error) {
	return d.DB.Write(of(ctx, w.Pattern), w, in)
}

func (d watchedDB) Export(ctx context.Context, p *table.Person, id string, after table.Cursor) iter.Seq2[table.PersonItem, error] {
	return d.DB.Export(of(ctx, "ExportPerson"), p, id, after)
}

func (d watchedDB) Erase(ctx context.Context, p *table.Person, id string) (table.Erased, error) {
	return d.DB.Erase(of(ctx, "ErasePerson"), p, id)
}
