package table

// OutcomeDecoder decodes the result of a write: the items of its steps as typed values. After an error it decodes nothing
// more.
type OutcomeDecoder struct {
	out Outcome
	err error
}

// DecodeOutcome starts decoding the result of a write.
func DecodeOutcome(out Outcome) *OutcomeDecoder { return &OutcomeDecoder{out: out} }

// Err is the first error.
func (d *OutcomeDecoder) Err() error { return d.err }

// Made returns the item after a step.
func Made[T any](d *OutcomeDecoder, step int, decode func(Values) (T, error)) T {
	var none T
	if x := Known(d, step, decode); x != nil {
		return *x
	}
	return none
}

// Known returns the item after a step; nil if the response does not include it.
func Known[T any](d *OutcomeDecoder, step int, decode func(Values) (T, error)) *T {
	if items := d.out.Items[step]; items[0] != nil {
		return decodeOne(d, items[0], decode)
	}
	return nil
}

// MadeEach returns the items after a step that runs per line.
func MadeEach[T any](d *OutcomeDecoder, step int, decode func(Values) (T, error)) []T {
	var out []T
	for _, v := range d.out.Items[step] {
		if x := decodeOne(d, v, decode); x != nil {
			out = append(out, *x)
		}
	}
	return out
}

func decodeOne[T any](d *OutcomeDecoder, v Values, decode func(Values) (T, error)) *T {
	if d.err != nil {
		return nil
	}
	x, err := decode(v)
	if d.err = err; err != nil {
		return nil
	}
	return &x
}
