package itemenc

import "bytes"

// Equal reports whether two items are equal by DynamoDB's equality: like their bytes (I2), except that the members of a set have
// no order. It only decodes sets and what contains them.
func (it Item) Equal(o Item) (bool, error) {
	if it == nil || o == nil {
		return it == nil && o == nil, nil
	}
	if bytes.Equal(it, o) {
		return true, nil
	}
	if len(it) != len(o) || it.Size() != o.Size() || it.Len() != o.Len() {
		return false, nil
	}
	a, b := it.Fields(), o.Fields()
	for a.Next() && b.Next() {
		if !bytes.Equal(a.Name(), b.Name()) {
			return false, nil
		}
		if same, err := a.Value().equal(b.Value()); err != nil || !same {
			return false, err
		}
	}
	if err := a.Err(); err != nil {
		return false, err
	}
	return true, b.Err()
}

func (v Value) equal(o Value) (bool, error) {
	switch {
	case v.tag != o.tag || len(v.body) != len(o.body):
		return false, nil
	case bytes.Equal(v.body, o.body):
		return true, nil
	case v.tag < tagList:
		return false, nil
	}
	a, err := v.Decode()
	if err != nil {
		return false, err
	}
	b, err := o.Decode()
	if err != nil {
		return false, err
	}
	return a.Equal(b), nil
}
