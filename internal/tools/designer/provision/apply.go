package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/plural"
)

// applyWait bounds the wait for a table or index; building an index of a large table takes long.
const applyWait = 6 * time.Hour

// Apply creates missing tables and updates the others as far as that is safe: it adds missing indexes, one at a
// time as DynamoDB requires, and turns TTL and the stream on. It removes nothing; a difference that cannot be
// changed in place is an error. say is called for each step.
func Apply(ctx context.Context, client *dynamodb.Client, specs []Spec, logf func(format string, args ...any)) error {
	var faults []error
	for _, s := range specs {
		if len(s.Placeholders) > 0 {
			return fmt.Errorf("the table name %q has placeholders: set them with --set %s=…", s.Name, s.Placeholders[0])
		}
		a := applier{ctx, client, s, logf}
		if err := a.table(); err != nil {
			faults = append(faults, fmt.Errorf("table %s: %w", s.Name, err))
		}
	}
	return errors.Join(faults...)
}

type applier struct {
	ctx    context.Context //nolint:containedctx // of one call of Apply, which the applier does not outlive
	client *dynamodb.Client
	spec   Spec
	logf   func(format string, args ...any)
}

func (a *applier) table() error {
	there, err := a.describe()
	if err != nil {
		return err
	}
	if there == nil {
		return a.create()
	}
	if err := a.sameKeys(there); err != nil {
		return err
	}
	changed := false
	for i := range a.spec.Indexes {
		added, err := a.index(there, &a.spec.Indexes[i])
		if err != nil {
			return err
		}
		changed = changed || added
	}
	for _, x := range there.GlobalSecondaryIndexes {
		if !slices.ContainsFunc(a.spec.Indexes, func(want IndexSpec) bool { return want.Name == *x.IndexName }) {
			a.logf("%s: the index %s is not in the design; it is not changed", a.spec.Name, *x.IndexName)
		}
	}
	settings, err := a.settings(there)
	if err == nil && !changed && !settings {
		a.logf("%s: matches the design", a.spec.Name)
	}
	return err
}

// describe returns nil if there is no such table.
func (a *applier) describe() (*types.TableDescription, error) {
	out, err := a.client.DescribeTable(a.ctx, &dynamodb.DescribeTableInput{TableName: &a.spec.Name})
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
		return nil, nil //nolint:nilnil // no table is a valid result
	}
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func (a *applier) create() error {
	s := &a.spec
	in := s.Creation().Request()
	if _, err := a.client.CreateTable(a.ctx, in); err != nil {
		return err
	}
	if err := a.wait(); err != nil {
		return err
	}
	a.logf("%s: created with %s", s.Name, plural.Of(len(s.Indexes), "index"))
	_, err := a.settings(&types.TableDescription{StreamSpecification: in.StreamSpecification})
	return err
}

// sameKeys rejects a table with a different primary key, because keys cannot be changed.
func (a *applier) sameKeys(there *types.TableDescription) error {
	if want := schemaOf([]string{a.spec.PK}, sortKey(a.spec.SK)); !sameSchema(want, there.KeySchema) {
		return fmt.Errorf("its primary key is (%s), but the design's is (%s): a key cannot change, so this needs a new table",
			schemaText(there.KeySchema), schemaText(want))
	}
	return nil
}

// index adds a missing index, and waits for it.
func (a *applier) index(there *types.TableDescription, x *IndexSpec) (added bool, err error) {
	want := schemaOf(x.PK, x.SK)
	for _, have := range there.GlobalSecondaryIndexes {
		if *have.IndexName == x.Name {
			return false, differs(x, want, have.KeySchema, have.Projection)
		}
	}
	for _, have := range there.LocalSecondaryIndexes {
		if *have.IndexName == x.Name {
			return false, differs(x, want, have.KeySchema, have.Projection)
		}
	}
	if x.Local {
		return false, fmt.Errorf("it has no local index %s, which can only be created with its table", x.Name)
	}
	create := &types.CreateGlobalSecondaryIndexAction{IndexName: &x.Name, KeySchema: want, Projection: projectionOf(x)}
	if !a.spec.OnDemand {
		create.ProvisionedThroughput = a.throughput()
	}
	a.logf("%s: adding the index %s", a.spec.Name, x.Name)
	if _, err := a.client.UpdateTable(a.ctx, &dynamodb.UpdateTableInput{
		TableName: &a.spec.Name, AttributeDefinitions: a.definitions(),
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: create}},
	}); err != nil {
		return false, err
	}
	return true, a.wait()
}

// differs rejects an existing index of the same name with other properties.
func differs(x *IndexSpec, want, have []types.KeySchemaElement, projection *types.Projection) error {
	switch {
	case !sameSchema(want, have):
		return fmt.Errorf("its index %s has the key (%s), but the design's is (%s): delete it, or give the new one another name",
			x.Name, schemaText(have), schemaText(want))
	case projection != nil && !covers(projection, x):
		return fmt.Errorf("its index %s projects %s %v, but the design's projects %s %v: a projection cannot change; give the new one another name",
			x.Name, projection.ProjectionType, projection.NonKeyAttributes, x.Projection, x.Attributes)
	}
	return nil
}

// covers reports whether a projection includes all wanted attributes.
func covers(have *types.Projection, x *IndexSpec) bool {
	if have.ProjectionType == types.ProjectionTypeAll {
		return true
	}
	if x.Projection == "ALL" {
		return false
	}
	return !slices.ContainsFunc(x.Attributes, func(name string) bool { return !slices.Contains(have.NonKeyAttributes, name) })
}

// settings turns TTL and the stream on if the design has them and the table does not.
func (a *applier) settings(there *types.TableDescription) (changed bool, err error) {
	s := &a.spec
	if s.Stream != "" && (there.StreamSpecification == nil || !aws.ToBool(there.StreamSpecification.StreamEnabled)) {
		if _, err := a.client.UpdateTable(a.ctx, &dynamodb.UpdateTableInput{
			TableName: &s.Name,
			StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(s.Stream),
			},
		}); err != nil {
			return false, err
		}
		a.logf("%s: stream turned on", s.Name)
		changed = true
	}
	if s.TTLAttr == "" {
		return changed, nil
	}
	ttl, err := a.client.DescribeTimeToLive(a.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.Name})
	if err != nil {
		return changed, err
	}
	if d := ttl.TimeToLiveDescription; d != nil && aws.ToString(d.AttributeName) == s.TTLAttr && d.TimeToLiveStatus != types.TimeToLiveStatusDisabled {
		return changed, nil
	}
	if _, err := a.client.UpdateTimeToLive(a.ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &s.Name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &s.TTLAttr, Enabled: aws.Bool(true)},
	}); err != nil {
		return changed, err
	}
	a.logf("%s: items expire by %s", s.Name, s.TTLAttr)
	return true, nil
}

// wait waits until the table and all its indexes are active.
func (a *applier) wait() error {
	ctx, cancel := context.WithTimeout(a.ctx, applyWait)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		there, err := a.describe()
		if err != nil {
			return err
		}
		if there != nil && there.TableStatus == types.TableStatusActive &&
			!slices.ContainsFunc(there.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool {
				return x.IndexStatus != types.IndexStatusActive
			}) {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("it did not become ACTIVE: %w", ctx.Err())
		case <-timer.C:
		}
	}
}

// definitions are the definitions of the key attributes of the table and all its indexes.
func (a *applier) definitions() []types.AttributeDefinition {
	var out []types.AttributeDefinition
	for _, k := range a.spec.Attributes {
		out = append(out, types.AttributeDefinition{AttributeName: aws.String(k.Name), AttributeType: types.ScalarAttributeType(k.Type)})
	}
	return out
}

func (a *applier) throughput() *types.ProvisionedThroughput {
	return &types.ProvisionedThroughput{
		ReadCapacityUnits: aws.Int64(int64(a.spec.Capacity.Read)), WriteCapacityUnits: aws.Int64(int64(a.spec.Capacity.Write)),
	}
}

func sortKey(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func schemaOf(pk, sk []string) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, name := range pk {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeHash})
	}
	for _, name := range sk {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeRange})
	}
	return out
}

func sameSchema(a, b []types.KeySchemaElement) bool { return schemaText(a) == schemaText(b) }

func schemaText(list []types.KeySchemaElement) string {
	parts := make([]string, len(list))
	for i, k := range list {
		parts[i] = *k.AttributeName + " " + string(k.KeyType)
	}
	return strings.Join(parts, ", ")
}

func projectionOf(x *IndexSpec) *types.Projection {
	p := &types.Projection{ProjectionType: types.ProjectionType(x.Projection)}
	if x.Projection == "INCLUDE" {
		p.NonKeyAttributes = x.Attributes
	}
	return p
}
