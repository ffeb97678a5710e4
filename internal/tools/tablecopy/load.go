package tablecopy

import (
	"context"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/pacing"
)

// loadPage is the number of items per page.
const loadPage = 200

// Loaded is a table to load from a source that is not an endpoint.
type Loaded struct {
	// Create creates it. Its stream and deletion protection are turned on after its items.
	Create dynamodb.CreateTableInput
	// TTLAttr is the TTL attribute; empty for none.
	TTLAttr string
	Count   int64
	Items   iter.Seq2[Item, error]
}

// Load creates a table at the target, writes its items, and compares them with the target's. It uses the options To, Units,
// Existing, Verify, Logf and Progress.
func Load(ctx context.Context, o Options, l Loaded) error {
	c := &copier{o: o, meter: pacing.NewMeter(o.Units)}
	create, name := l.Create, aws.ToString(l.Create.TableName)
	create.StreamSpecification, create.DeletionProtectionEnabled = nil, nil
	there, err := describe(ctx, o.To.Client, name)
	switch {
	case err != nil:
		return err
	case there == nil:
		if _, err := o.To.Client.CreateTable(ctx, &create); err != nil {
			return fmt.Errorf("create it: %w", err)
		}
	case !o.Existing:
		return fmt.Errorf("%s already has it: delete it there, or pass --existing to write to it without its settings", o.To.Name)
	case keysOf(there.KeySchema, there.AttributeDefinitions) != keysOf(create.KeySchema, create.AttributeDefinitions):
		return fmt.Errorf("its key is (%s), but at %s it is (%s)", keysOf(create.KeySchema, create.AttributeDefinitions), o.To.Name, keysOf(there.KeySchema, there.AttributeDefinitions))
	}
	if _, err := c.waitActive(ctx, o.To.Client, name); err != nil {
		return err
	}
	if err := c.load(ctx, &l, name); err != nil {
		return err
	}
	if there != nil {
		return c.reportOff(ctx, &l, there)
	}
	return c.turnOn(ctx, &l, name)
}

// reportOff names the settings that an existing table does not have. It may be that of an import that was killed before it turned them on.
func (c *copier) reportOff(ctx context.Context, l *Loaded, there *types.TableDescription) error {
	name := aws.ToString(there.TableName)
	ttl, err := c.o.To.Client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return err
	}
	if d := ttl.TimeToLiveDescription; l.TTLAttr != "" && (d == nil || aws.ToString(d.AttributeName) != l.TTLAttr) {
		c.logf("%s: not imported, because the table existed: TTL by %s", name, l.TTLAttr)
	}
	if s := l.Create.StreamSpecification; s != nil && !streaming(there) {
		c.logf("%s: not imported, because the table existed: the stream (%s)", name, s.StreamViewType)
	}
	if aws.ToBool(l.Create.DeletionProtectionEnabled) && !aws.ToBool(there.DeletionProtectionEnabled) {
		c.logf("%s: not imported, because the table existed: deletion protection", name)
	}
	return nil
}

// load writes and compares the items page by page.
func (c *copier) load(ctx context.Context, l *Loaded, name string) error {
	var page []Item
	r, written := &comparison{}, int64(0)
	flush := func() error {
		writes, keys := make([]types.WriteRequest, len(page)), make([]Item, len(page))
		for i, item := range page {
			writes[i].PutRequest, keys[i] = &types.PutRequest{Item: item}, primary(l.Create.KeySchema, item)
		}
		if err := c.write(ctx, name, writes); err != nil {
			return err
		}
		if c.o.Verify {
			found, err := c.read(ctx, &c.o.To, name, keys)
			if err != nil {
				return err
			}
			for i, item := range page {
				judge(r, keys[i], item, found[identity(keys[i])], true)
			}
		}
		written += int64(len(page))
		page = page[:0]
		c.progress("import "+name, written, l.Count)
		return nil
	}
	for item, err := range l.Items {
		if err != nil {
			return err
		}
		if page = append(page, item); len(page) == loadPage {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if r.found > 0 {
		return fmt.Errorf("%w: %d of %d items (%v)", ErrDifferent, r.found, written, r)
	}
	c.logf("%s: imported %s", name, plural.Of(written, "item"))
	return nil
}

func (c *copier) turnOn(ctx context.Context, l *Loaded, name string) error {
	if l.TTLAttr != "" {
		if _, err := c.o.To.Client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: &name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &l.TTLAttr, Enabled: aws.Bool(true)},
		}); err != nil {
			return fmt.Errorf("let items expire by %s: %w", l.TTLAttr, err)
		}
	}
	if l.Create.StreamSpecification != nil {
		if _, err := c.o.To.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, StreamSpecification: l.Create.StreamSpecification}); err != nil {
			return fmt.Errorf("turn the stream on: %w", err)
		}
		if _, err := c.waitActive(ctx, c.o.To.Client, name); err != nil {
			return err
		}
	}
	if aws.ToBool(l.Create.DeletionProtectionEnabled) {
		if _, err := c.o.To.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(true)}); err != nil {
			return fmt.Errorf("turn deletion protection on: %w", err)
		}
	}
	return nil
}
