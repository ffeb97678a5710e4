//go:build !race

package attrtest

// Race is true under the race detector, which allocates where the program does not: tests that count
// allocations do not run then.
const Race = false
