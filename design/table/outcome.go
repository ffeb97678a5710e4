package table

// OutcomeDecoder reads what a write has done: the items of its steps as values of their types. After a fault it reads nothing more.
type OutcomeDecoder struct {
	out Outcome
	err error
}

// DecodeOutcome begins to read what a write has done.
func DecodeOutcome(out Outcome) *OutcomeDecoder { return &OutcomeDecoder{out: out} }

// Err is the first fault.
func (d *OutcomeDecoder) Err() error { return d.err }

// Made is the item that a step has left.
func Made[T any](d *OutcomeDecoder, step int, decode func(Values) (T, error)) T {
	var none T
	if x := Known(d, step, decode); x != nil {
		return *x
	}
	return none
}

// Known is the item that a step has left; nil if the answer does not tell it.
func Known[T any](d *OutcomeDecoder, step int, decode func(Values) (T, error)) *T {
	if items := d.out.Items[step]; items[0] != nil {
		return decodeOne(d, items[0], decode)
	}
	return nil
}

// MadeEach are the items that a step for each line has left.
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
