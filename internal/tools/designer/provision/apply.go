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

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
)

// applyWait bounds the wait for a table or index; building an index of a large table takes long.
const applyWait = 6 * time.Hour

// Apply creates missing tables and updates the others as far as that is safe: it adds missing indexes, one at a
// time as DynamoDB requires, and turns TTL and the stream on. It removes nothing; a difference that cannot be
// changed in place is an error, and then the table stays as it is. logf is called for each step.
func Apply(ctx context.Context, client *dynamodb.Client, specs []Spec, logf func(format string, args ...any)) error {
	for _, s := range specs {
		if len(s.Placeholders) > 0 {
			return fmt.Errorf("the table name %q has placeholders: set them with --set %s=…", s.Name, s.Placeholders[0])
		}
	}
	var faults []error
	for _, s := range specs {
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
	if there.TableStatus == types.TableStatusDeleting {
		return errors.New("it is being deleted: try again when it is gone")
	}
	if busy(there) {
		a.logf("%s: waiting for a change in progress", a.spec.Name)
		if there, err = a.wait(); err != nil {
			return err
		}
	}
	if err := a.possible(there); err != nil {
		return err
	}
	changed := false
	for i := range a.spec.Indexes {
		if x := &a.spec.Indexes[i]; a.have(there, x.Name) == nil {
			changed = true
			if err := a.add(there, x); err != nil {
				return err
			}
		}
	}
	for _, x := range there.GlobalSecondaryIndexes {
		if !slices.ContainsFunc(a.spec.Indexes, func(want IndexSpec) bool { return want.Name == *x.IndexName }) {
			a.logf("%s: the index %s is not in the design; it is not changed", a.spec.Name, *x.IndexName)
		}
	}
	if onDemand(there) != a.spec.OnDemand {
		a.logf("%s: its billing is %s, but the design's is %s; it is not changed", a.spec.Name, billing(onDemand(there)), billing(a.spec.OnDemand))
		changed = true
	}
	settings, err := a.settings(there)
	if err == nil && !changed && !settings {
		a.logf("%s: matches the design", a.spec.Name)
	}
	return err
}

// possible returns all differences that cannot be changed in place.
func (a *applier) possible(there *types.TableDescription) error {
	faults := []error{a.sameKeys(there)}
	for i := range a.spec.Indexes {
		x := &a.spec.Indexes[i]
		have := a.have(there, x.Name)
		switch {
		case have != nil:
			faults = append(faults, a.differs(x, have))
		case x.Local:
			faults = append(faults, fmt.Errorf("it has no local index %s, which can only be created with its table", x.Name))
		}
	}
	if want, have := types.StreamViewType(a.spec.Stream), streamOf(there); want != "" && have != "" && have != want &&
		have != types.StreamViewTypeNewAndOldImages && want != types.StreamViewTypeKeysOnly {
		faults = append(faults, fmt.Errorf("its stream has %s, but the design's has %s: the view of a stream cannot change; turn the stream off, and apply the design again",
			have, want))
	}
	return errors.Join(faults...)
}

// index is an existing index.
type index struct {
	local      bool
	schema     string // as schemaText has it
	projection *types.Projection
}

// have returns nil if there is no index of that name.
func (a *applier) have(there *types.TableDescription, name string) *index {
	for _, x := range there.GlobalSecondaryIndexes {
		if *x.IndexName == name {
			return &index{false, schemaText(x.KeySchema, there.AttributeDefinitions), x.Projection}
		}
	}
	for _, x := range there.LocalSecondaryIndexes {
		if *x.IndexName == name {
			return &index{true, schemaText(x.KeySchema, there.AttributeDefinitions), x.Projection}
		}
	}
	return nil
}

// streamOf is the view of a table's stream; "" if it has none.
func streamOf(there *types.TableDescription) types.StreamViewType {
	if s := there.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		return s.StreamViewType
	}
	return ""
}

// onDemand reports the billing of a table, which has no summary if it has always been provisioned.
func onDemand(there *types.TableDescription) bool {
	return there.BillingModeSummary != nil && there.BillingModeSummary.BillingMode == types.BillingModePayPerRequest
}

func billing(onDemand bool) design.Billing {
	if onDemand {
		return design.OnDemand
	}
	return design.Provisioned
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
	if _, err := a.wait(); err != nil {
		return err
	}
	a.logf("%s: created with %s", s.Name, plural.Of(len(s.Indexes), "index"))
	_, err := a.settings(&types.TableDescription{StreamSpecification: in.StreamSpecification})
	return err
}

// sameKeys rejects a table with a different primary key, because keys cannot be changed.
func (a *applier) sameKeys(there *types.TableDescription) error {
	want := schemaText(schemaOf([]string{a.spec.PK}, sortKey(a.spec.SK)), a.definitions())
	if have := schemaText(there.KeySchema, there.AttributeDefinitions); have != want {
		return fmt.Errorf("its primary key is (%s), but the design's is (%s): a key cannot change, so this needs a new table", have, want)
	}
	return nil
}

// add adds a global index, and waits for it. Whether it has a throughput depends on the billing of the table, not of the design.
func (a *applier) add(there *types.TableDescription, x *IndexSpec) error {
	create := &types.CreateGlobalSecondaryIndexAction{IndexName: &x.Name, KeySchema: schemaOf(x.PK, x.SK), Projection: projectionOf(x)}
	if !onDemand(there) {
		create.ProvisionedThroughput = a.throughput()
	}
	a.logf("%s: adding the index %s", a.spec.Name, x.Name)
	if _, err := a.client.UpdateTable(a.ctx, &dynamodb.UpdateTableInput{
		TableName: &a.spec.Name, AttributeDefinitions: a.definitions(),
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: create}},
	}); err != nil {
		return err
	}
	_, err := a.wait()
	return err
}

// differs rejects an existing index of the same name with other properties.
func (a *applier) differs(x *IndexSpec, have *index) error {
	want := schemaText(schemaOf(x.PK, x.SK), a.definitions())
	switch {
	case have.schema != want:
		return fmt.Errorf("its index %s has the key (%s), but the design's is (%s): delete it, or give the new one another name",
			x.Name, have.schema, want)
	case have.local != x.Local:
		return fmt.Errorf("its index %s is %s, but the design's is %s: give the new one another name", x.Name, scope(have.local), scope(x.Local))
	case have.projection != nil && !covers(have.projection, x):
		return fmt.Errorf("its index %s projects %s %v, but the design's projects %s %v: a projection cannot change; give the new one another name",
			x.Name, have.projection.ProjectionType, have.projection.NonKeyAttributes, x.Projection, x.Attributes)
	}
	return nil
}

func scope(local bool) string {
	if local {
		return "local"
	}
	return "global"
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
	if s.Stream != "" && streamOf(there) == "" {
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
		if _, err := a.wait(); err != nil {
			return changed, err
		}
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

// busy reports whether a table, or one of its indexes, is being created or changed.
func busy(there *types.TableDescription) bool {
	return there.TableStatus == types.TableStatusCreating || there.TableStatus == types.TableStatusUpdating ||
		slices.ContainsFunc(there.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool {
			return x.IndexStatus != types.IndexStatusActive
		})
}

// wait waits until the table and all its indexes can be changed, and describes the table then.
func (a *applier) wait() (*types.TableDescription, error) {
	ctx, cancel := context.WithTimeout(a.ctx, applyWait)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		there, err := a.describe()
		if err != nil {
			return nil, err
		}
		if there != nil && !busy(there) {
			return there, nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("it did not become ACTIVE: %w", ctx.Err())
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

// schemaText has the attributes of a key as a design writes them, with the types that are not S, and their roles.
func schemaText(list []types.KeySchemaElement, definitions []types.AttributeDefinition) string {
	parts := make([]string, len(list))
	for i, k := range list {
		parts[i] = *k.AttributeName
		for _, d := range definitions {
			if *d.AttributeName == *k.AttributeName && d.AttributeType != types.ScalarAttributeTypeS {
				parts[i] += ":" + string(d.AttributeType)
			}
		}
		parts[i] += " " + string(k.KeyType)
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
