package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// fingerprint returns a digest of the content of a transaction: its actions in order, without parameters that only shape the
// response. Every part is prefixed with its length, so different contents have different inputs.
func fingerprint(in *api.TransactWriteItemsInput) [sha256.Size]byte {
	d := digest{hash: sha256.New()}
	for i := range in.TransactItems {
		a := &in.TransactItems[i]
		if c := a.ConditionCheck; c != nil {
			d.action('C', c.TableName, c.Key, nil, c.ConditionExpression, c.ExpressionAttributeNames, c.ExpressionAttributeValues)
			d.text(c.ReturnValuesOnConditionCheckFailure)
		}
		if p := a.Put; p != nil {
			d.action('P', p.TableName, p.Item, nil, p.ConditionExpression, p.ExpressionAttributeNames, p.ExpressionAttributeValues)
			d.text(p.ReturnValuesOnConditionCheckFailure)
		}
		if x := a.Delete; x != nil {
			d.action('D', x.TableName, x.Key, nil, x.ConditionExpression, x.ExpressionAttributeNames, x.ExpressionAttributeValues)
			d.text(x.ReturnValuesOnConditionCheckFailure)
		}
		if u := a.Update; u != nil {
			d.action('U', u.TableName, u.Key, u.UpdateExpression, u.ConditionExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues)
			d.text(u.ReturnValuesOnConditionCheckFailure)
		}
	}
	var sum [sha256.Size]byte
	d.hash.Sum(sum[:0])
	return sum
}

// digest writes length-prefixed values to a hash.
type digest struct {
	hash    hash.Hash
	scratch []byte
}

func (d *digest) action(kind byte, table *string, item attr.Item, update, condition *string, names map[string]string, values attr.Item) {
	d.bytes([]byte{kind})
	d.text(table)
	d.item(item)
	d.text(update)
	d.text(condition)
	d.bytes(binary.BigEndian.AppendUint64(nil, uint64(len(names))))
	for _, alias := range slices.Sorted(maps.Keys(names)) {
		name := names[alias]
		d.text(&alias)
		d.text(&name)
	}
	d.item(values)
}

func (d *digest) text(s *string) {
	if s == nil {
		d.bytes(nil)
		return
	}
	d.bytes(append([]byte{1}, *s...)) // present, even if empty
}

func (d *digest) item(it attr.Item) {
	d.scratch = itemenc.Encode(d.scratch[:0], it)
	d.bytes(d.scratch)
}

func (d *digest) bytes(b []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(b)))
	_, _ = d.hash.Write(length[:]) // a hash never returns an error
	_, _ = d.hash.Write(b)
}
