package identity

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// FuzzFile: no file makes a panic, and what is read makes a directory or an error.
func FuzzFile(f *testing.F) {
	f.Add("users:\n- {name: ana, accessKeys: [{id: AKIA1, secret: s}], tags: {a: b}, policies: [{Version: 2012-10-17, Statement: []}]}\n")
	f.Add(`{"roles": [{"name": "r", "trust": "{}", "maxSession": "2h"}], "providers": [{"issuer": "https://x", "jwks": "https://x/keys"}]}`)
	f.Add("users: &a [*a]")
	f.Add("users: [{name: ana, boundary: 1}]")
	f.Add("users: ! 00000000000000000")
	d, err := Open(f.Context(), Options{Store: memkv.New(), Account: "123456789012"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseFile([]byte(text))
		if err == nil {
			_, err = d.newView(all)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error says nothing")
		}
	})
}

// TestFileForms: policies may be YAML, JSON or a text of JSON; ids are the same whenever the file is read.
func TestFileForms(t *testing.T) {
	const text = `
users:
  - name: ana
    tags: {team: blue}
    policies:
      - Version: 2012-10-17
        Statement:
          - {Effect: Allow, Action: dynamodb:GetItem, Resource: "*"}
      - {"Version": "2012-10-17", "Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}
      - '{"Version": "2012-10-17", "Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}'
    boundary: {Version: 2012-10-17, Statement: {Effect: Allow, Action: "*", Resource: "*"}}
`
	d, err := Open(t.Context(), Options{Store: memkv.New(), Account: "123456789012"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 2 {
		all, err := parseFile([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		v, err := d.newView(all)
		if err != nil {
			t.Fatal(err)
		}
		ana := v.users["ana"]
		if len(ana.Identity) != 3 || ana.Boundary == nil || ana.Tags["team"] != "blue" || ana.ARN != "arn:aws:iam::123456789012:user/ana" {
			t.Errorf("%+v", ana)
		}
		ids = append(ids, ana.UserID)
	}
	if _, err := parseFile([]byte("users: []")); err != nil {
		t.Error(err)
	}
	if ids[0] != ids[1] || !strings.HasPrefix(ids[0], "AIDA") {
		t.Error(ids)
	}
}

// TestFileRejects: what a file must not say, and where it says it.
func TestFileRejects(t *testing.T) {
	for text, want := range map[string]string{
		"":               "it is empty: to declare no users, write users: []",
		"# users\n---\n": "it is empty",
		"users: [{name: ana, tags: {team: blue, Team: red}}]": `users[0] ana: there are two tags "team"`,
		"roles: [{name: r, trust: {Version: 2012-10-17, Statement: {Effect: Allow, Principal: '*', Action: 'sts:AssumeRole'}}, tags: {a: b, A: c}}]": `roles[0] r: there are two tags "a"`,
	} {
		if _, err := parseFile([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestFileRejectsProviders: a provider without audiences would accept tokens for any client.
func TestFileRejectsProviders(t *testing.T) {
	for providers, want := range map[string]string{
		"{issuer: x, jwks: y}":                                                       "providers[0] x: a provider needs audiences: without, tokens for any client would be accepted",
		"{issuer: x, jwks: y, audiences: []}":                                        "providers[0] x: a provider needs audiences",
		"{issuer: x, jwks: y, audiences: [a, '']}":                                   "providers[0] x: an audience is empty",
		"{issuer: x, jwks: y, audiences: [a]}, {jwks: y}":                            "providers[1]: a provider needs an issuer and a jwks",
		"{issuer: x, jwks: y, audiences: [a]}, {issuer: x, jwks: z, audiences: [b]}": "providers[1] x: there are two providers of this issuer",
	} {
		if _, err := parseFile([]byte("providers: [" + providers + "]")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", providers, err, want)
		}
	}
}
