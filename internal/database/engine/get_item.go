package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// GetItem reads one item. Strongly and eventually consistent reads return the same here, but only the former wait until the state
// they read is durable. The response has no Item if the item does not exist.
func (e *Engine) GetItem(ctx context.Context, in *api.GetItemInput) (*api.GetItemOutput, error) {
	g := getter{"GetItem", in.AttributesToGet, in.ProjectionExpression, in.ExpressionAttributeNames}
	sh, err := g.bind(in.Key)
	if err != nil {
		return nil, err
	}
	t, counts, err := e.lookup(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	key, err := storeKey(t, in.Key)
	if err != nil {
		return nil, err
	}
	if err := nestedKeyFault(t, sh.nested); err != nil {
		return nil, err
	}
	consistency := capacity.ConsistencyOf(in.ConsistentRead)
	paid, err := e.admitItem(ctx, t, counts, key, consistency)
	if err != nil {
		return nil, err
	}
	defer paid.end()
	data, err := e.reads(consistency).Get(ctx, key)
	if err != nil {
		return nil, err
	}
	stored := itemenc.Item(data)
	if len(stored) > api.LargeRead {
		if err := api.ReserveMemory(ctx, int64(len(stored))); err != nil {
			return nil, err
		}
	}
	out := new(api.GetItemOutput)
	if out.Item, err = sh.of(nil, stored); err != nil {
		return nil, err
	}
	units := capacity.ReadUnits(sizeOf(stored), consistency)
	paid.charge(units)
	counts.Capacity.Read.Add(units)
	request := observe.From(ctx)
	request.ConsumeRead(units)
	e.rankItem(insights.Accessed, t, key, units)
	if stored != nil {
		request.Return(1)
	}
	if m := capacity.NewMeter(*in.TableName, capacity.DetailOf(in.ReturnConsumedCapacity), capacity.NoSplit); m != nil {
		m.Table(units)
		out.ConsumedCapacity = m.Report()
	}
	return out, nil
}

// storeKey returns the store key of the item that a Key parameter names.
func storeKey(t *catalog.Table, key attr.Item) ([]byte, error) {
	pk, sk, err := keyOf(t, key)
	if err != nil {
		return nil, err
	}
	return keyenc.Item(nil, t.ID, pk, sk), nil
}

// getter holds the parameters with which read operations by key select attributes.
type getter struct {
	operation       string
	attributesToGet []string
	projection      *string
	names           map[string]string
}

// bind checks keys and projection as far as the request alone allows.
func (g *getter) bind(keys ...attr.Item) (shape, error) {
	err := refuseMixing(
		[]parameter{{"AttributesToGet", g.attributesToGet != nil}},
		[]parameter{{"ProjectionExpression", g.projection != nil}})
	if err != nil {
		return shape{}, err
	}
	legacy, err := g.bindLegacy()
	if err != nil {
		return shape{}, expressionErrorIn(g.operation, err)
	}
	for _, key := range keys {
		if err := checkKeyParameter(g.operation, key); err != nil {
			return shape{}, err
		}
	}
	if g.projection == nil {
		return shapeOf(legacy), nil
	}
	p, err := g.bindProjection()
	if err != nil {
		return shape{}, expressionErrorIn(g.operation, err)
	}
	return shapeOf(p), nil
}

// bindLegacy binds a request without a ProjectionExpression; nil is a projection on the whole item.
func (g *getter) bindLegacy() (*eval.Projection, error) {
	if g.projection != nil {
		return nil, nil
	}
	if err := eval.CheckAlone(g.names, nil); err != nil || g.attributesToGet == nil {
		return nil, err
	}
	return eval.LowerAttributesToGet(g.attributesToGet)
}

func (g *getter) bindProjection() (*eval.Projection, error) {
	b, err := eval.NewBinder(g.names, nil)
	if err != nil {
		return nil, err
	}
	p, err := b.Projection(*g.projection)
	if err != nil {
		return nil, err
	}
	return p, b.Done()
}
