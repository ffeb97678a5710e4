package cryptfs

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/monotable/monotable/internal/seal"
)

// ErrWrongKey means that a key file was sealed under another master key.
var ErrWrongKey = errors.New("the files are encrypted under another master key")

// Keys are the data keys of a directory. They are immutable and safe for concurrent use.
type Keys struct {
	byID    map[keyID][]byte
	current keyID // for new files
	order   []keyID
}

type keyID [keyIDBytes]byte

// NewKeys returns a single new data key.
func NewKeys() (*Keys, error) {
	none := &Keys{}
	return none.WithNew()
}

// WithNew returns the keys together with a new one, which encrypts new files.
func (k *Keys) WithNew() (*Keys, error) {
	more := &Keys{byID: map[keyID][]byte{}}
	for _, id := range k.order {
		more.add(id, k.byID[id])
	}
	var id keyID
	key := make([]byte, seal.KeyBytes)
	_, _ = rand.Read(id[:]) // never fails
	_, _ = rand.Read(key)
	if more.byID[id] != nil {
		return nil, errors.New("cryptfs: the source of random numbers repeats itself")
	}
	more.add(id, key)
	return more, nil
}

func (k *Keys) add(id keyID, key []byte) {
	k.byID[id], k.current = key, id
	k.order = append(k.order, id)
}

// The key file is a text of three lines: the format, the sealed keys in base64, and the SHA-256 of that line, which distinguishes
// corruption from a wrong master key.
const (
	keyFileBegins = "monotable keys format 1"
	forKeys       = "data keys of files"
)

// sealedKey is a data key in the sealed JSON. The last one encrypts new files.
type sealedKey struct {
	ID  string `json:"id"`
	Key []byte `json:"key"`
}

// Seal returns the text of a key file.
func (k *Keys) Seal(master []byte) (string, error) {
	list := make([]sealedKey, 0, len(k.order))
	for _, id := range k.order {
		list = append(list, sealedKey{hex.EncodeToString(id[:]), k.byID[id]})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	sealed, err := seal.Seal(rand.Reader, master, text, forKeys)
	if err != nil {
		return "", err
	}
	line := base64.StdEncoding.EncodeToString(sealed)
	sum := sha256.Sum256([]byte(line))
	return keyFileBegins + "\n" + line + "\n" + hex.EncodeToString(sum[:]) + "\n", nil
}

// OpenKeys parses the text of a key file. It returns ErrWrongKey, wrapped, if the file is intact but the master key is wrong.
func OpenKeys(text string, master []byte) (*Keys, error) {
	lines := strings.Split(text, "\n")
	if lines[0] != keyFileBegins {
		return nil, fmt.Errorf("it starts with %.40q: want %q; it may be from a newer release", lines[0], keyFileBegins)
	}
	damaged := errors.New("it is corrupt: restore it from a backup of the same directory; without it nothing can be read")
	if len(lines) < 3 {
		return nil, damaged
	}
	if sum := sha256.Sum256([]byte(lines[1])); hex.EncodeToString(sum[:]) != lines[2] {
		return nil, damaged
	}
	sealed, err := base64.StdEncoding.DecodeString(lines[1])
	if err != nil {
		return nil, damaged
	}
	plain, err := seal.Open(master, sealed, forKeys)
	if err != nil {
		return nil, ErrWrongKey
	}
	var list []sealedKey
	if err := json.Unmarshal(plain, &list); err != nil || len(list) == 0 {
		return nil, damaged
	}
	keys := &Keys{byID: map[keyID][]byte{}}
	for _, s := range list {
		id, err := hex.DecodeString(s.ID)
		if err != nil || len(id) != keyIDBytes || len(s.Key) != seal.KeyBytes {
			return nil, damaged
		}
		keys.add(keyID(id), s.Key)
	}
	return keys, nil
}
