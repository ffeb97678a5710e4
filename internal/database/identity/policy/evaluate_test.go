package policy

import (
	"strings"
	"testing"
)

const (
	robin   = "arn:aws:iam::111122223333:role/Robin"
	session = "arn:aws:sts::111122223333:assumed-role/Robin/now"
	other   = "444455556666"
)

// TestEvaluationOrder checks how a resource's policy, identity policies, boundaries and sessions go together, as the IAM User Guide's
// chapter on evaluation has it.
func TestEvaluationOrder(t *testing.T) {
	all := mustParse(t, `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, Identity)
	none := mustParse(t, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}`, Identity)
	deny := mustParse(t, `{"Statement":{"Effect":"Deny","Action":"*","Resource":"*"}}`, Identity)
	list := func(p *Policy) []*Policy {
		if p == nil {
			return nil
		}
		return []*Policy{p}
	}
	user := func(identity, boundary *Policy) *Principal {
		return &Principal{ARN: jane, Account: testAccount, Username: "jane", Identity: list(identity), Boundary: boundary}
	}
	ofRole := func(identity, boundary, limits *Policy) *Principal {
		return &Principal{ARN: session, Role: robin, Account: testAccount, Identity: list(identity), Boundary: boundary, Session: list(limits)}
	}
	root := &Principal{ARN: "arn:aws:iam::111122223333:root", Account: testAccount, Root: true}
	const (
		open   = "" // no policy of the resource
		named  = `"Allow","Principal":{"AWS":"` + jane + `"}`
		byRole = `"Allow","Principal":{"AWS":"` + robin + `"}`
		ofSelf = `"Allow","Principal":{"AWS":"` + session + `"}`
		byID   = `"Allow","Principal":{"AWS":"` + testAccount + `"}`
		byRoot = `"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"}`
		every  = `"Allow","Principal":"*"`
		denied = `"Deny","Principal":"*"`
		except = `"Deny","NotPrincipal":{"AWS":"` + jane + `"}`
		butAcc = `"Deny","NotPrincipal":{"AWS":"` + testAccount + `"}`
		others = `"Allow","NotPrincipal":{"AWS":"` + testAccount + `"}`
		rest   = `"Allow","NotPrincipal":{"AWS":"` + robin + `"}`
		strang = `"Allow","Principal":{"AWS":"` + other + `"}`
	)
	for i, c := range []struct {
		who     *Principal
		owner   string // account of the resource
		trust   string // policy of the resource
		want    Decision
		assumes Decision // whether the role of that trust policy may be taken
	}{
		{user(all, nil), testAccount, open, Allowed, ResourceAllowsNot},
		{user(none, nil), testAccount, open, IdentityAllowsNot, IdentityAllowsNot},
		{user(nil, nil), testAccount, open, IdentityAllowsNot, IdentityAllowsNot},
		{user(deny, nil), testAccount, named, IdentityDenies, IdentityDenies},
		{user(all, all), testAccount, open, Allowed, ResourceAllowsNot},
		{user(all, none), testAccount, open, BoundaryAllowsNot, BoundaryAllowsNot},
		{user(all, deny), testAccount, named, BoundaryDenies, BoundaryDenies},
		{user(nil, nil), testAccount, named, Allowed, Allowed},
		{user(nil, none), testAccount, named, Allowed, Allowed},
		{user(nil, nil), testAccount, every, Allowed, Allowed},
		{user(nil, nil), testAccount, byID, IdentityAllowsNot, IdentityAllowsNot},
		{user(all, nil), testAccount, byRoot, Allowed, Allowed},
		{user(all, nil), testAccount, denied, ResourceDenies, ResourceDenies},
		{user(all, nil), testAccount, except, Allowed, ResourceAllowsNot},
		{user(all, nil), testAccount, butAcc, ResourceDenies, ResourceDenies},
		{user(nil, nil), testAccount, others, IdentityAllowsNot, IdentityAllowsNot},
		{user(nil, nil), testAccount, rest, Allowed, Allowed},
		{user(nil, nil), testAccount, strang, IdentityAllowsNot, IdentityAllowsNot},

		{ofRole(all, nil, nil), testAccount, open, Allowed, ResourceAllowsNot},
		{ofRole(all, nil, none), testAccount, open, SessionAllowsNot, SessionAllowsNot},
		{ofRole(all, nil, deny), testAccount, open, SessionDenies, SessionDenies},
		{ofRole(nil, nil, nil), testAccount, byRole, Allowed, Allowed},
		{ofRole(nil, none, nil), testAccount, byRole, BoundaryAllowsNot, BoundaryAllowsNot},
		{ofRole(nil, nil, none), testAccount, byRole, SessionAllowsNot, SessionAllowsNot},
		{ofRole(nil, none, none), testAccount, ofSelf, Allowed, Allowed},
		{ofRole(nil, none, nil), testAccount, every, BoundaryAllowsNot, BoundaryAllowsNot},
		{ofRole(nil, nil, nil), testAccount, rest, IdentityAllowsNot, IdentityAllowsNot},

		{root, testAccount, open, Allowed, ResourceAllowsNot},
		{root, testAccount, denied, ResourceDenies, ResourceDenies},

		// Another account's resource.
		{user(all, nil), other, open, ResourceAllowsNot, ResourceAllowsNot},
		{user(all, nil), other, byID, Allowed, Allowed},
		{user(all, nil), other, named, Allowed, Allowed},
		{user(nil, nil), other, named, IdentityAllowsNot, IdentityAllowsNot},
		{user(nil, nil), other, every, IdentityAllowsNot, IdentityAllowsNot},
		{user(all, none), other, named, BoundaryAllowsNot, BoundaryAllowsNot},
		{ofRole(nil, nil, nil), other, byRole, IdentityAllowsNot, IdentityAllowsNot},
		{ofRole(all, nil, nil), other, byRole, Allowed, Allowed},
		{root, other, open, ResourceAllowsNot, ResourceAllowsNot},
		{root, other, byID, Allowed, Allowed},
	} {
		r := &Request{Action: "dynamodb:GetItem", Resource: table, Account: c.owner}
		assume := &Request{Action: "sts:AssumeRole", Resource: robin, Account: c.owner}
		if c.trust != "" {
			r.Policy = mustParse(t, `{"Statement":{"Effect":`+c.trust+`,"Action":"*","Resource":"*"}}`, Resource)
			assume.Policy = mustParse(t, `{"Statement":{"Effect":`+c.trust+`,"Action":"*"}}`, Trust)
		}
		if got := Evaluate(c.who, r); got != c.want {
			t.Errorf("case %d: decision %d, want %d", i, got, c.want)
		}
		if got := EvaluateAssume(c.who, assume); got != c.assumes {
			t.Errorf("case %d: assume %d, want %d", i, got, c.assumes)
		}
	}
}

// TestFederated checks the trust policy of a role for web identities.
func TestFederated(t *testing.T) {
	p := mustParse(t, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"id.example.com"},
		"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"id.example.com:aud":"app"}}}}`, Trust)
	r := &Request{Action: "sts:AssumeRoleWithWebIdentity", Resource: robin, Policy: p, Keys: keys{"id.example.com:aud": One("app")}}
	if got := EvaluateFederated("id.example.com", r); got != Allowed {
		t.Error(got)
	}
	if got := EvaluateFederated("other.example.com", r); got != ResourceAllowsNot {
		t.Error(got)
	}
	if got := Evaluate(userWith(), r); got == Allowed {
		t.Error("a user is no federated identity")
	}
	r.Keys = keys{"id.example.com:aud": One("another")}
	if got := EvaluateFederated("id.example.com", r); got != ResourceAllowsNot {
		t.Error(got)
	}
}

// BenchmarkEvaluate decides a request of a role with five policies of four statements each, the last of which allows.
func BenchmarkEvaluate(b *testing.B) {
	var policies []*Policy
	for range 5 {
		policies = append(policies, mustParse(b, `{"Version":"2012-10-17","Statement":[`+strings.Repeat(
			`{"Effect":"Allow","Action":["dynamodb:Query","dynamodb:GetItem"],"Resource":["arn:aws:dynamodb:us-east-1:111122223333:table/Books","arn:aws:dynamodb:*:*:table/Books/index/*"]},`, 2)+
			`{"Effect":"Deny","Action":"dynamodb:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}},`+
			`{"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:Put*"],"Resource":"arn:aws:dynamodb:*:*:table/Music",
			"Condition":{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["shared","${aws:PrincipalTag/Team}#*"]}}}]}`, Identity))
	}
	who := &Principal{ARN: session, Role: robin, Account: testAccount, Tags: map[string]string{"Team": "blue"}, Identity: policies}
	r := &Request{
		Action: "dynamodb:GetItem", Resource: table, Account: testAccount,
		Keys: keys{"aws:securetransport": One("true"), "dynamodb:leadingkeys": One("blue#42")},
	}
	b.ReportAllocs()
	for b.Loop() {
		if Evaluate(who, r) != Allowed {
			b.Fatal("not allowed")
		}
	}
}
