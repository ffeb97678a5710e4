package identity

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/strictyaml"
)

// fileMax is the maximum size of a file: reading it takes hundreds of times as much memory.
const fileMax = 4 << 20

// file is a directory as declared in a file. Policies are in AWS's format, as JSON or YAML.
type file struct {
	Users []struct {
		Name       string            `json:"name"`
		AccessKeys []fileKey         `json:"accessKeys"`
		Tags       map[string]string `json:"tags"`
		Policies   []json.RawMessage `json:"policies"`
		Boundary   json.RawMessage   `json:"boundary"`
	} `json:"users"`
	Roles []struct {
		Name       string            `json:"name"`
		Trust      json.RawMessage   `json:"trust"`
		Tags       map[string]string `json:"tags"`
		Policies   []json.RawMessage `json:"policies"`
		Boundary   json.RawMessage   `json:"boundary"`
		MaxSession string            `json:"maxSession"`
	} `json:"roles"`
	Providers []struct {
		Issuer    string   `json:"issuer"`
		JWKS      string   `json:"jwks"`
		Audiences []string `json:"audiences"`
	} `json:"providers"`
}

type fileKey struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// readFile reads the records that a file declares.
func readFile(name string) (*records, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("users and roles: %w", err)
	}
	if info.Size() > fileMax {
		return nil, fmt.Errorf("users and roles: %s has more than %d bytes", name, fileMax)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("users and roles: %w", err)
	}
	all, err := parseFile(text)
	if err != nil {
		return nil, fmt.Errorf("users and roles: %s: %w", name, err)
	}
	return all, nil
}

func parseFile(text []byte) (*records, error) {
	var f file
	if err := strictyaml.Unmarshal(text, &f, yaml.UseJSONUnmarshaler()); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, false))
	}
	if f.Users == nil && f.Roles == nil && f.Providers == nil { // it may be being written
		return nil, errors.New("it is empty: to declare no users, write users: []")
	}
	all := new(records)
	return all, errors.Join(f.users(all), f.roles(all), f.providers(all))
}

func (f *file) users(all *records) error {
	seen := map[string]bool{}
	for i, u := range f.Users {
		at := fmt.Sprintf("users[%d] %s", i, u.Name)
		record := userRecord{Name: u.Name, ID: idOf("AIDA", u.Name), Tags: u.Tags}
		var err error
		if record.Policies, record.Boundary, err = all.inline("user/"+u.Name, u.Policies, u.Boundary); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if err := errors.Join(checkName("user", u.Name), checkTags(u.Tags)); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if seen[u.Name] {
			return fmt.Errorf("%s: there are two users of this name", at)
		}
		seen[u.Name] = true
		for _, k := range u.AccessKeys {
			if len(k.ID) < 3 || k.Secret == "" {
				return fmt.Errorf("%s: an access key needs an id and a secret", at)
			}
			record.Keys = append(record.Keys, keyRecord{ID: k.ID, plain: k.Secret})
		}
		all.users = append(all.users, record)
	}
	return nil
}

func (f *file) roles(all *records) error {
	seen := map[string]bool{}
	for i, r := range f.Roles {
		at := fmt.Sprintf("roles[%d] %s", i, r.Name)
		record := roleRecord{Name: r.Name, ID: idOf("AROA", r.Name), Tags: r.Tags}
		var err error
		if record.Policies, record.Boundary, err = all.inline("role/"+r.Name, r.Policies, r.Boundary); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if record.Trust, err = document(r.Trust, policy.Trust); err != nil {
			return fmt.Errorf("%s: trust: %w", at, err)
		}
		if err := errors.Join(checkName("role", r.Name), checkTags(r.Tags)); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if seen[r.Name] {
			return fmt.Errorf("%s: there are two roles of this name", at)
		}
		seen[r.Name] = true
		if r.MaxSession != "" {
			longest, err := time.ParseDuration(r.MaxSession)
			if err != nil || longest < time.Hour || longest > sessionMax {
				return fmt.Errorf("%s: maxSession %q: want a duration from 1h to 12h", at, r.MaxSession)
			}
			record.MaxSession = int(longest / time.Second)
		}
		all.roles = append(all.roles, record)
	}
	return nil
}

func (f *file) providers(all *records) error {
	seen := map[string]bool{}
	for i, p := range f.Providers {
		at := fmt.Sprintf("providers[%d] %s", i, p.Issuer)
		switch {
		case p.Issuer == "" || p.JWKS == "":
			return fmt.Errorf("providers[%d]: a provider needs an issuer and a jwks, the URL of its keys", i)
		case len(p.Audiences) == 0:
			return fmt.Errorf("%s: a provider needs audiences: without, tokens for any client would be accepted", at)
		case slices.Contains(p.Audiences, ""):
			return fmt.Errorf("%s: an audience is empty", at)
		case seen[p.Issuer]:
			return fmt.Errorf("%s: there are two providers of this issuer", at)
		}
		seen[p.Issuer] = true
		all.providers = append(all.providers, Provider(p))
	}
	return nil
}

// inline adds the policies of a user or role, named by their position.
func (all *records) inline(of string, policies []json.RawMessage, boundary json.RawMessage) (names []string, bound string, err error) {
	for i, text := range policies {
		name := fmt.Sprintf("%s/policies[%d]", of, i)
		p, err := document(text, policy.Identity)
		if err != nil {
			return nil, "", fmt.Errorf("policies[%d]: %w", i, err)
		}
		all.policies = append(all.policies, policyRecord{Name: name, Document: p})
		names = append(names, name)
	}
	if len(boundary) > 0 {
		p, err := document(boundary, policy.Identity)
		if err != nil {
			return nil, "", fmt.Errorf("boundary: %w", err)
		}
		bound = of + "/boundary"
		all.policies = append(all.policies, policyRecord{Name: bound, Document: p})
	}
	return names, bound, nil
}

// document returns a policy, which may be given as an object or as a string.
func document(value json.RawMessage, kind policy.Kind) (string, error) {
	text := string(value)
	var quoted string
	if json.Unmarshal(value, &quoted) == nil {
		text = quoted
	}
	_, err := policy.Parse(text, kind)
	return text, err
}

// idOf returns the same id for a name whenever the file is read, so that sessions survive a restart.
func idOf(prefix, name string) string {
	sum := sha256.Sum256([]byte(prefix + name))
	return prefix + base32.StdEncoding.EncodeToString(sum[:])[:17]
}
