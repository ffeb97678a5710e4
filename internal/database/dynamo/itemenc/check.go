package itemenc

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Check walks the whole encoding and reports whether it is well formed: lengths, counts and tags, names in
// order, numbers in normal form, strings in UTF-8, members of sets distinct, and the size in the head
// true. It is for the verifier; reading checks only what it reads.
func (it Item) Check() error {
	if it == nil {
		return fmt.Errorf("%w: it is absent", ErrCorrupt)
	}
	size, err := checkFields(it.Fields(), 0)
	if err != nil {
		return err
	}
	if size != it.Size() {
		return fmt.Errorf("%w: its size is %d, its head says %d", ErrCorrupt, size, it.Size())
	}
	return nil
}

// checkFields returns the fields' size.
func checkFields(fields Fields, depth int) (size int, err error) {
	var last []byte
	for first := true; fields.Next(); first = false {
		name := fields.Name()
		if !first && string(last) >= string(name) {
			return 0, fmt.Errorf("%w: attribute %q stands after %q", ErrCorrupt, name, last)
		}
		last = name
		n, err := checkValue(fields.Value(), depth)
		if err != nil {
			return 0, inAttribute(name, err)
		}
		size += len(name) + n
	}
	return size, fields.Err()
}

func inAttribute(name []byte, err error) error {
	if errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("attribute %q: %w", name, err)
	}
	return err
}

// checkValue returns the value's size.
func checkValue(v Value, depth int) (size int, err error) {
	if v.tag >= tagList && depth == maxDepth {
		return 0, fmt.Errorf("%w: more than %d documents inside each other", ErrCorrupt, maxDepth)
	}
	switch v.tag {
	case tagString:
		if !utf8.Valid(v.body) {
			return 0, fmt.Errorf("%w: string is not UTF-8", ErrCorrupt)
		}
	case tagNumber:
		text := string(v.body)
		if d, err := decimal.Parse(text); err != nil || d.String() != text {
			return 0, fmt.Errorf("%w: number %q is not in normal form", ErrCorrupt, text)
		}
	case tagMap:
		fields := v.Fields()
		count := fields.Left()
		size, err = checkFields(fields, depth+1)
		return attr.DocumentSize + count*attr.ElementSize + size, err
	case tagList, tagStringSet, tagNumberSet, tagBinarySet:
		return checkElems(v, depth)
	}
	return v.size(depth)
}

func checkElems(v Value, depth int) (size int, err error) {
	elems := v.Elems()
	count := elems.Left()
	seen := map[string]bool{}
	for elems.Next() {
		n, err := checkValue(elems.Value(), depth+1)
		if err != nil {
			return 0, err
		}
		size += n
		if v.tag != tagList {
			seen[string(elems.Value().Text())] = true
		}
	}
	if err := elems.Err(); err != nil {
		return 0, err
	}
	switch {
	case v.tag == tagList:
		return attr.DocumentSize + count*attr.ElementSize + size, nil
	case count == 0:
		return 0, fmt.Errorf("%w: set is empty", ErrCorrupt)
	case len(seen) < count:
		return 0, fmt.Errorf("%w: set has a member twice", ErrCorrupt)
	}
	return size, nil
}
