package api

// Memory is what the items of an output stand in.
type Memory interface {
	// Release ends the validity of the items, so that what comes next can use their memory.
	Release()
}

// lent is a part of outputs whose items stand in memory that can be used again.
type lent struct{ memory Memory }

// Lend says what the output's items stand in.
func (l *lent) Lend(m Memory) { l.memory = m }

// Release gives the items' memory back once the output has been written. An output that is never released
// costs memory and nothing else.
func (l *lent) Release() {
	if l.memory != nil {
		l.memory.Release()
		l.memory = nil
	}
}
