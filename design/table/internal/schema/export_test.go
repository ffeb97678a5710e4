package schema

// FitsKey checks a key of an item from an index.
func (e *Entity) FitsKey(a KeyAttribute, v Values, stored string) bool {
	return e.fitsKey(a, v, stored)
}
