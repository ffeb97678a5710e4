package schema

// FitsKey is what an item of an index is recognised by.
func (e *Entity) FitsKey(a KeyAttribute, v Values, stored string) bool {
	return e.fitsKey(a, v, stored)
}
