package api

// Memory is the memory of an output's items.
type Memory interface {
	// Release ends the validity of the items, so that what comes next can use their memory.
	Release()
}

// lent is embedded in outputs whose items are in reusable memory.
type lent struct{ memory Memory }

// Lend sets the memory of the output's items.
func (l *lent) Lend(m Memory) { l.memory = m }

// Release gives the items' memory back once the output has been written. An output that is never released
// costs memory and nothing else.
func (l *lent) Release() {
	if l.memory != nil {
		l.memory.Release()
		l.memory = nil
	}
}
