package write

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// derive makes the operations of an effect: on the item itself, and on its copies and markers. The error is errUnread if
// they depend on an item that was not read.
func (e *effect) derive() error {
	e.ops = nil
	var err error
	switch {
	case e.rejected:
		e.refuse()
	case e.creates():
		err = e.deriveWhole()
	case e.action == schema.Delete:
		err = e.deriveDelete()
	case e.action == schema.Check:
		err = e.deriveCheck()
	default:
		err = e.deriveUpdate()
	}
	e.planned = err == nil
	return err
}

// operation adds an operation; the one on the item itself comes first.
func (e *effect) operation(kind operationKind, r role, noun string, item schema.Item) *Operation {
	o := &Operation{Kind: kind, role: r, of: e, Table: e.entity.Table, noun: noun + " of " + e.entity.Name, Item: item}
	e.ops = append(e.ops, o)
	return o
}

// isThere and isAbsent are conditions on the item itself.
func (e *effect) isThere(x *expression) string {
	return "attribute_exists(" + x.path([]string{e.entity.Table.PK.Name}) + ")"
}

func (e *effect) isAbsent(x *expression) string {
	return "attribute_not_exists(" + x.path([]string{e.entity.Table.PK.Name}) + ")"
}

// isFree is the condition for a new item: none exists, or only an expired one that DynamoDB has not removed yet.
func (e *effect) isFree(x *expression) string {
	f := e.entity.TTLField()
	if f == nil {
		return e.isAbsent(x)
	}
	now := x.value(&types.AttributeValueMemberN{Value: strconv.FormatInt(e.in.Now.Unix(), 10)})
	return e.isAbsent(x) + " OR " + x.path(f.Path) + " < " + now
}

// refuse adds the operation of a change that is already known to fail: it takes its place in the order, because an earlier
// operation may fail, too.
func (e *effect) refuse() {
	x := newExpression()
	e.operation(Checking, ownItem, "update", e.primary).keeps(x, e.isThere(x), e.isAbsent(x))
}

// deriveWhole puts a whole item with its copies and markers.
func (e *effect) deriveWhole() error {
	noun := "create"
	if e.action == schema.Put {
		noun = "put"
	}
	it, err := e.entity.ItemAt(schema.Place{Kind: schema.KeyPlace}, e.values)
	if err != nil {
		return err
	}
	x := newExpression()
	o := e.operation(Putting, ownItem, noun, it)
	when, err := e.when.Bind(e.in, x.names, x.values)
	if err != nil {
		return err
	}
	switch {
	case e.created:
		o.keeps(x, e.isAbsent(x), when)
	case e.action == schema.Create:
		o.keeps(x, e.isFree(x), when)
	default:
		o.keeps(x, when)
	}
	for i := range e.entity.Copies {
		if err := e.putCopy(&e.entity.Copies[i], e.values); err != nil {
			return err
		}
	}
	for i := range e.entity.Markers {
		if err := e.take(&e.entity.Markers[i], e.values); err != nil {
			return err
		}
	}
	return nil
}

// deriveDelete deletes an item with its copies and markers. A missing one has none.
func (e *effect) deriveDelete() error {
	x := newExpression()
	if e.exists() == absent {
		e.operation(Checking, missingItem, "delete", e.primary).keeps(x, e.isAbsent(x))
		return nil
	}
	o := e.operation(Deleting, ownItem, "delete", e.primary)
	for i := range e.entity.Copies {
		key, err := e.keyBefore(e.entity.Copies[i].Key)
		if err != nil {
			return err
		}
		if key != nil {
			e.operation(Deleting, relatedItem, "delete of copy "+e.entity.Copies[i].Name, key)
		}
	}
	for i := range e.entity.Markers {
		if err := e.release(&e.entity.Markers[i]); err != nil {
			return err
		}
	}
	when, err := e.when.Bind(e.in, x.names, x.values)
	if err != nil {
		return err
	}
	if e.exists() == present {
		o.keeps(x, e.isThere(x), when, e.guards(x))
	}
	return nil
}

// deriveCheck only checks the condition.
func (e *effect) deriveCheck() error {
	x := newExpression()
	when, err := e.when.Bind(e.in, x.names, x.values)
	if err != nil {
		return err
	}
	if when == "" {
		when = e.isThere(x)
	}
	e.operation(Checking, ownItem, "check", e.primary).keeps(x, when)
	return nil
}

// deriveUpdate changes an item that exists, or may exist.
func (e *effect) deriveUpdate() error {
	if slices.ContainsFunc(e.assigned, func(a assignment) bool { return !a.native() }) {
		return errUnread
	}
	if e.exists() == unknown && (len(e.entity.Markers) > 0 || slices.ContainsFunc(e.assigned, func(a assignment) bool { return len(a.path) > 1 })) {
		return errUnread // a marker is created with its item, and a map before something is set in it
	}
	x := newExpression()
	noun := "update"
	if e.counters {
		noun = "count"
	}
	o := e.operation(updating, ownItem, noun, e.primary)
	for i := range e.assigned {
		if a := &e.assigned[i]; !inKey(e.entity.Key, a.path) {
			x.assign(a)
		}
	}
	if e.action == schema.Upsert {
		e.identify(x, e.entity.Key, nil)
	}
	if err := e.index(schema.Place{Kind: schema.KeyPlace}, x); err != nil {
		return err
	}
	for i := range e.entity.Copies {
		if err := e.deriveCopy(&e.entity.Copies[i]); err != nil {
			return err
		}
	}
	for i := range e.entity.Markers {
		if err := e.deriveMarker(&e.entity.Markers[i]); err != nil {
			return err
		}
	}
	when, err := e.when.Bind(e.in, x.names, x.values)
	if err != nil {
		return err
	}
	there := ""
	if e.exists() == present {
		there = e.isThere(x)
	}
	bounds, err := e.bounds(x)
	if err != nil {
		return err
	}
	o.keeps(x, there, when, e.guards(x), bounds)
	if o.Update = x.text(); o.Update == "" && e.exists() == unknown {
		return errUnread // for an item that is only its key: a transaction cannot express that it must be created
	}
	return nil
}

// inKey reports whether a path is an attribute of a primary key.
func inKey(key []schema.KeyAttribute, path []string) bool {
	return len(path) == 1 && slices.ContainsFunc(key, func(a schema.KeyAttribute) bool { return a.Name == path[0] })
}

// identify sets what identifies an item that may be created: the fields of the primary key, as far as they are stored, and
// the type.
func (e *effect) identify(x *expression, key []schema.KeyAttribute, held []string) {
	for _, name := range schema.FieldsOf(e.entity.Key) {
		f := e.entity.Field(name)
		if !inKey(key, f.Path) && (held == nil || slices.Contains(held, name)) {
			x.set(f.Path, e.values[name])
		}
	}
	if t := e.entity.Table.TypeAttr; t != "" {
		x.set([]string{t}, &types.AttributeValueMemberS{Value: e.entity.TypeValue})
	}
}

// guards are conditions that the fields on which the change relies are unchanged.
func (e *effect) guards(x *expression) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.relied)) {
		f := e.entity.Field(name)
		out = append(out, x.guard(f.Path, schema.Stored(e.old, f.Path)))
	}
	return conjunction(out...)
}

// valuesBefore are fields before the change; the error is errUnread if one is unknown.
func (e *effect) valuesBefore(fields []string) (schema.Values, error) {
	return collect(fields, e.before)
}

func (e *effect) valuesAfter(fields []string) (schema.Values, error) { return collect(fields, e.after) }

func collect(fields []string, of func(string) (types.AttributeValue, bool)) (schema.Values, error) {
	out := make(schema.Values, len(fields))
	for _, name := range fields {
		v, known := of(name)
		if !known {
			return nil, errUnread
		}
		if v != nil {
			out[name] = v
		}
	}
	return out, nil
}

// keyBefore is the key of a copy or marker before the change; nil if the item lacks fields of the key, and so has none.
func (e *effect) keyBefore(key []schema.KeyAttribute) (schema.Item, error) {
	fields := schema.FieldsOf(key)
	v, err := e.valuesBefore(fields)
	if err != nil {
		return nil, err
	}
	e.relyBefore(fields...)
	if len(v) < len(fields) {
		return nil, nil //nolint:nilnil // without the fields there is no such copy or marker
	}
	return e.entity.KeyOf(key, v)
}
