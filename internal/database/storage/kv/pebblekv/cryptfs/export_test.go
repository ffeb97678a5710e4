package cryptfs

// HeaderBytes is the length of a file's header.
const HeaderBytes = headerBytes

// XORFrom applies the key stream of a file with this data key and nonce, from an offset on.
func XORFrom(dataKey, nonce, p []byte, offset int64) error {
	s, _, err := newStream(dataKey, nonce)
	if err == nil {
		s.from(offset).XORKeyStream(p, p)
	}
	return err
}
