//go:build !cgo

package cli

// hasC reports whether the program is compiled with C.
const hasC = false
