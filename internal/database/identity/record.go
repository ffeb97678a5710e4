package identity

import (
	"encoding/json"
	"fmt"
	"time"
)

// recordFormat is the version of the records' JSON.
const recordFormat = 1

// The kinds of records. There is one root, whose name is empty, and one data key.
const (
	kindDataKey = 'd'
	kindPolicy  = 'p'
	kindRole    = 'r'
	kindRoot    = 'a'
	kindUser    = 'u'
)

// userRecord is a user, or the root.
type userRecord struct {
	Format   int               `json:"format"`
	Name     string            `json:"name"`
	ID       string            `json:"id"`
	Created  time.Time         `json:"created"`
	Tags     map[string]string `json:"tags,omitempty"`
	Policies []string          `json:"policies,omitempty"` // names
	Boundary string            `json:"boundary,omitempty"` // a name
	Keys     []keyRecord       `json:"keys,omitempty"`
}

// keyRecord is an access key.
type keyRecord struct {
	ID       string    `json:"id"`
	Sealed   []byte    `json:"sealed,omitempty"` // the secret
	Created  time.Time `json:"created"`
	Inactive bool      `json:"inactive,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`

	plain string // the secret, if it comes from a file
}

type roleRecord struct {
	Format     int               `json:"format"`
	Name       string            `json:"name"`
	ID         string            `json:"id"`
	Created    time.Time         `json:"created"`
	Tags       map[string]string `json:"tags,omitempty"`
	Policies   []string          `json:"policies,omitempty"`
	Boundary   string            `json:"boundary,omitempty"`
	Trust      string            `json:"trust"`
	MaxSession int               `json:"maxSession,omitempty"` // seconds
}

type policyRecord struct {
	Format   int       `json:"format"`
	Name     string    `json:"name"`
	Created  time.Time `json:"created"`
	Document string    `json:"document"`
}

// Provider issues web identity tokens. Only files declare providers.
type Provider struct {
	// Issuer is the claim iss of its tokens, and JWKS the URL of its keys.
	Issuer, JWKS string
	// Audiences are the accepted claims aud, azp or client_id, at least one.
	Audiences []string
}

// records are the records of a whole directory.
type records struct {
	root      *userRecord
	users     []userRecord
	roles     []roleRecord
	policies  []policyRecord
	providers []Provider
}

// add decodes and adds a record.
func (all *records) add(kind byte, _ string, data []byte) (err error) {
	switch kind {
	case kindRoot:
		all.root, err = decode[userRecord](data)
	case kindUser:
		err = appendTo(&all.users, data)
	case kindRole:
		err = appendTo(&all.roles, data)
	case kindPolicy:
		err = appendTo(&all.policies, data)
	case kindDataKey: // see openDataKey
	default:
		err = fmt.Errorf("its kind %q belongs to a newer release", kind)
	}
	return err
}

func appendTo[T any](list *[]T, data []byte) error {
	record, err := decode[T](data)
	if err == nil {
		*list = append(*list, *record)
	}
	return err
}

// decode decodes a record, or returns nil for nil.
func decode[T any](data []byte) (*T, error) {
	if data == nil {
		return nil, nil //nolint:nilnil // there may be none
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Format != recordFormat {
		return nil, fmt.Errorf("it has format %d, but this program supports format %d", head.Format, recordFormat)
	}
	record := new(T)
	return record, json.Unmarshal(data, record)
}
