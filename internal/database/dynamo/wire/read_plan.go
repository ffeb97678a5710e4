package wire

import (
	"reflect"
	"strconv"
	"sync"

	"github.com/go-faster/jx"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// readPlan describes how to read a struct.
type readPlan struct {
	members map[string]readMember
	target  *target // of the struct as the whole body of a request
}

type readMember struct {
	index int
	read  readFunc
}

// readFunc reads the next JSON value, which is not null, into v, which is addressable.
type readFunc func(d *decoder, v reflect.Value) error

// into reads the next JSON value, including null.
func (m readMember) into(d *decoder, v reflect.Value) error {
	isNull, err := d.null()
	if err != nil {
		return err
	}
	if isNull {
		v.SetZero()
		return nil
	}
	return m.read(d, v)
}

// readPlans caches the results of compileRead; it is limited by the number of shapes.
var readPlans sync.Map // reflect.Type → *readPlan

func readPlanOf(t reflect.Type) *readPlan {
	if p, ok := readPlans.Load(t); ok {
		return p.(*readPlan)
	}
	p, _ := readPlans.LoadOrStore(t, compileRead(t))
	return p.(*readPlan)
}

func compileRead(t reflect.Type) *readPlan {
	p := &readPlan{members: make(map[string]readMember, t.NumField()), target: targetOf(t, inCollection)}
	for i := range t.NumField() {
		f := t.Field(i)
		read := readerOf(f.Type, inMember)
		if f.Tag.Get("integer") == "32" {
			read = readInteger
		}
		p.members[f.Name] = readMember{index: i, read: read}
	}
	return p
}

var (
	itemType  = reflect.TypeFor[attr.Item]()
	valueType = reflect.TypeFor[attr.Value]()
)

// readerOf returns how to read a value of a type. Shapes have no types other than these.
func readerOf(t reflect.Type, p place) readFunc {
	switch t {
	case reflect.TypeFor[*string]():
		return readString
	case reflect.TypeFor[*int64]():
		return readLong
	case reflect.TypeFor[*bool]():
		return readBool
	case reflect.TypeFor[*float64]():
		return readDouble
	case reflect.TypeFor[*api.Timestamp]():
		return readTimestamp
	case itemType:
		return readItem(targetOf(t, p))
	case valueType:
		return readValue(targetOf(t, p))
	case reflect.TypeFor[string]():
		return readText
	}
	switch t.Kind() {
	case reflect.Pointer:
		return readPointer(t.Elem())
	case reflect.Struct:
		plan, want := compileRead(t), targetOf(t, p)
		return func(d *decoder, v reflect.Value) error { return d.structure(plan, v, want) }
	case reflect.Slice:
		return readList(t, targetOf(t, p))
	case reflect.Map:
		return readMap(t, targetOf(t, p))
	default:
		return readNothing
	}
}

func readString(d *decoder, v reflect.Value) error {
	s, err := d.str(targetString)
	if err != nil {
		return err
	}
	text := string(s)
	v.Set(reflect.ValueOf(&text))
	return nil
}

func readText(d *decoder, v reflect.Value) error {
	s, err := d.str(targetString)
	if err != nil {
		return err
	}
	v.SetString(string(s))
	return nil
}

func readLong(d *decoder, v reflect.Value) error { return d.number(targetLong, v) }

func readInteger(d *decoder, v reflect.Value) error { return d.number(targetInteger, v) }

func readBool(d *decoder, v reflect.Value) error {
	b, err := d.boolean()
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(&b))
	return nil
}

func readDouble(d *decoder, v reflect.Value) error {
	if d.jx.Next() != jx.Number {
		return d.mismatch(targetDouble)
	}
	f, err := d.jx.Float64()
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(&f))
	return nil
}

// readTimestamp reads seconds since the epoch, with an optional fraction.
func readTimestamp(d *decoder, v reflect.Value) error {
	if d.jx.Next() != jx.Number {
		return d.mismatch(targetDate)
	}
	raw, err := d.jx.Num()
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return unconvertible("NUMBER_VALUE", targetDate)
	}
	v.Set(reflect.ValueOf(new(api.Timestamp(seconds))))
	return nil
}

func readItem(want *target) readFunc {
	return func(d *decoder, v reflect.Value) error {
		it, err := d.item(0, want)
		if err != nil {
			return err
		}
		*v.Addr().Interface().(*attr.Item) = it
		return nil
	}
}

func readValue(want *target) readFunc {
	return func(d *decoder, v reflect.Value) error {
		value, err := d.value(0, want)
		if err != nil {
			return err
		}
		*v.Addr().Interface().(*attr.Value) = value
		return nil
	}
}

// readPointer reads a member that is a pointer to a struct or to a value.
func readPointer(elem reflect.Type) readFunc {
	read := readerOf(elem, inMember)
	return func(d *decoder, v reflect.Value) error {
		p := reflect.New(elem)
		if err := read(d, p.Elem()); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
}

// readList reads a list member. A null element is an empty element, or a faulty one in a list of attribute values.
func readList(t reflect.Type, want *target) readFunc {
	read := readerOf(t.Elem(), inCollection)
	if t.Elem() != valueType {
		read = readMember{read: read}.into
	}
	return func(d *decoder, v reflect.Value) error {
		elements, err := d.array(want)
		if err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		for n := 0; elements.Next(); n++ {
			v.Grow(1)
			v.SetLen(n + 1)
			if err := read(d, v.Index(n)); err != nil {
				return err
			}
		}
		return elements.Err()
	}
}

// readMap reads a map member. Keys with null are skipped, except that a null condition, update or attribute name is an empty one, which
// its operation rejects: without it, a conditional write would have no condition.
func readMap(t reflect.Type, want *target) readFunc {
	read := readerOf(t.Elem(), inCollection)
	kind := t.Elem().Kind()
	keepsNull := kind == reflect.String || kind == reflect.Struct && t.Elem() != reflect.TypeFor[api.KeysAndAttributes]()
	return func(d *decoder, v reflect.Value) error {
		entries, err := d.object(want)
		if err != nil {
			return err
		}
		v.Set(reflect.MakeMap(t))
		for entries.Next() {
			key := reflect.ValueOf(string(entries.Key()))
			value := reflect.New(t.Elem()).Elem()
			isNull, err := d.null()
			if err == nil && !isNull {
				err = read(d, value)
			}
			if err != nil {
				return err
			}
			if !isNull || keepsNull {
				v.SetMapIndex(key, value)
			}
		}
		return entries.Err()
	}
}

// readNothing skips members that only responses have.
func readNothing(d *decoder, _ reflect.Value) error { return d.jx.Skip() }
