package itemenc

import "github.com/monotable/monotable/internal/database/dynamo/attr"

// Replace appends the encoded form of the item in which the named top-level attributes (names sorted and unique) are replaced by
// those of with, or removed if with lacks them. Other attributes of with are ignored; those of the item are copied unchanged.
func (it Item) Replace(dst []byte, names []string, with attr.Item) (Item, error) {
	start := len(dst)
	dst = appendHead(dst, 0, 0)
	size, count := it.Size(), 0
	put := func(name string) {
		v, ok := with.Get(name)
		if !ok {
			return
		}
		dst = appendBytes(dst, name)
		dst = appendValue(dst, v)
		size += len(name) + v.Size()
		count++
	}
	fields := it.Fields()
	for fields.Next() {
		name := alias(fields.Name())
		for len(names) > 0 && names[0] < name {
			put(names[0])
			names = names[1:]
		}
		if len(names) > 0 && names[0] == name {
			gone, err := fields.Value().size(0)
			if err != nil {
				return nil, err
			}
			size -= len(name) + gone
			put(name)
			names = names[1:]
			continue
		}
		dst = appendBytes(dst, name)
		dst = fields.Value().append(dst)
		count++
	}
	if err := fields.Err(); err != nil {
		return nil, err
	}
	for _, name := range names {
		put(name)
	}
	appendHead(dst[:start], size, count)
	return dst, nil
}
