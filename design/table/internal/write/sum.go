package write

import (
	"math"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// largeAmount is an amount of which a thousand do not fit into 64 bits.
const largeAmount = 1 << 53

// sumOf adds or subtracts; field is for the error of a sum out of DynamoDB's range.
func sumOf(field string, a, b decimal.Decimal, negative bool) (sum decimal.Decimal, err error) {
	if negative {
		sum, err = a.Sub(b)
	} else {
		sum, err = a.Add(b)
	}
	if err != nil {
		return sum, &schema.ValueError{Field: field, Reason: "is a sum that DynamoDB cannot store: " + err.Error()}
	}
	return sum, nil
}

// addsLarge returns the amount that an assignment adds to a number of 64 bits, if it is large.
func (a *assignment) addsLarge() (decimal.Decimal, bool) {
	n, ok := schema.DecimalOf(a.value)
	large := n.Cmp(decimal.FromInt(largeAmount)) >= 0 || n.Cmp(decimal.FromInt(-largeAmount)) <= 0
	return n, ok && large && a.how == adding && a.member.Type.Kind != schema.KindDecimal
}

// bounds are the conditions that sums with large amounts fit into 64 bits: DynamoDB's numbers are larger, and such a sum could not be
// decoded.
func (e *effect) bounds(x *expression) (string, error) {
	var out []string
	for i := range e.assigned {
		a := &e.assigned[i]
		by, large := a.addsLarge()
		if !large {
			continue
		}
		sign, limit := " <= ", int64(math.MaxInt64)
		if by.Cmp(decimal.Decimal{}) < 0 {
			sign, limit = " >= ", math.MinInt64
		}
		most, err := sumOf(a.member.Name, decimal.FromInt(limit), by, true)
		if err != nil {
			return "", err
		}
		within := x.path(a.path) + sign + x.value(schema.NumberOf(most))
		if _, alone := by.Int64(); alone {
			within = "attribute_not_exists(" + x.path(a.path) + ") OR " + within
		}
		out = append(out, within)
	}
	return conjunction(out...), nil
}

// beyond is the error of a sum with a large amount that does not fit into 64 bits; nil if all do.
func (e *effect) beyond(old schema.Item) error {
	for i := range e.assigned {
		a := &e.assigned[i]
		by, large := a.addsLarge()
		if !large {
			continue
		}
		n, _ := schema.DecimalOf(schema.At(old, a.path))
		sum, err := sumOf(a.member.Name, n, by, false)
		if err == nil {
			err = a.member.Type.CheckValue(a.member.Name, schema.NumberOf(sum), 0, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
