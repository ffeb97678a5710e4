package server

import "math/rand/v2"

// requestIDLength is the length of AWS's request ids.
const requestIDLength = 52

// newRequestID returns 52 random upper-case letters and digits. They only need to be unique, not secret, so it uses the runtime's
// lock-free source.
func newRequestID() string {
	const (
		alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		perWord  = 12 // 36^12 < 2^64
	)
	var id [requestIDLength]byte
	var word uint64
	for i := range id {
		if i%perWord == 0 {
			word = rand.Uint64()
		}
		id[i] = alphabet[word%uint64(len(alphabet))]
		word /= uint64(len(alphabet))
	}
	return string(id[:])
}
