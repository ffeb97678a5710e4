package policy

import (
	"strings"
	"testing"
)

const (
	testAccount = "111122223333"
	table       = "arn:aws:dynamodb:us-east-1:111122223333:table/Music"
	jane        = "arn:aws:iam::111122223333:user/jane"
)

// keys are the condition keys of a test's request.
type keys map[string]Value

func (k keys) Key(name string) Value { return k[name] }

func mustParse(tb testing.TB, document string, kind Kind) *Policy {
	tb.Helper()
	p, err := Parse(document, kind)
	if err != nil {
		tb.Fatalf("%s: %v", document, err)
	}
	return p
}

// allow is a document of one statement that allows GetItem of the table on conditions.
func allow(condition string) string {
	return `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"` + table + `","Condition":{` + condition + `}}}`
}

func userWith(policies ...*Policy) *Principal {
	return &Principal{ARN: jane, Account: testAccount, UserID: "AIDAJANE", Username: "jane", Tags: map[string]string{"Team": "blue"}, Identity: policies}
}

// TestConditions checks each operator as the IAM User Guide describes it.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
func TestConditions(t *testing.T) {
	request := keys{
		"a:one": One("x"), "a:case": One("XyZ"), "a:two": {Texts: []string{"x", "y"}}, "a:star": One("a*b"),
		"a:n": One("10.50"), "a:date": One("2026-11-23T10:00:00Z"), "a:yes": One("true"), "a:ip": One("203.0.113.7"), "a:ip6": One("2001:db8::1"),
		"a:mapped": One("::ffff:203.0.113.7"), "a:bytes": One("QmluYXJ5"), "a:arn": One("arn:aws:iam::111122223333:role/x/y"), "a:all": {Unbounded: true},
		"a:more": {Texts: []string{"x"}, Unbounded: true},
	}
	for _, c := range []struct {
		condition    string
		allow, denyd bool // whether a statement of this condition allows, and one denies
	}{
		{`"StringEquals":{"a:one":"x"}`, true, true},
		{`"StringEquals":{"A:One":["z","x"]}`, true, true},
		{`"StringEquals":{"a:one":"X"}`, false, false},
		{`"StringEquals":{"a:none":"x"}`, false, false},
		{`"StringEqualsIfExists":{"a:none":"x"}`, true, true},
		{`"StringEqualsIfExists":{"a:one":"y"}`, false, false},
		{`"StringNotEquals":{"a:one":["y","z"]}`, true, true},
		{`"StringNotEquals":{"a:one":["y","x"]}`, false, false},
		{`"StringNotEquals":{"a:none":"x"}`, true, true},
		{`"StringEqualsIgnoreCase":{"a:case":"xYz"}`, true, true},
		{`"StringNotEqualsIgnoreCase":{"a:case":"xYz"}`, false, false},
		{`"StringLike":{"a:case":"X?*"}`, true, true},
		{`"StringLike":{"a:case":"x*"}`, false, false},
		{`"StringNotLike":{"a:case":"*Z"}`, false, false},
		{`"StringEquals":{"a:one":"*"}`, false, false},
		{`"StringLike":{"a:star":"a${*}b"}`, true, true},
		{`"StringLike":{"a:case":"X${*}"}`, false, false},
		{`"NumericEquals":{"a:n":10.5}`, true, true},
		{`"NumericEquals":{"a:n":"+10.5"}`, true, true},
		{`"NumericNotEquals":{"a:n":10}`, true, true},
		{`"NumericLessThan":{"a:n":"10.5"}`, false, false},
		{`"NumericLessThanEquals":{"a:n":"10.5"}`, true, true},
		{`"NumericGreaterThan":{"a:n":9}`, true, true},
		{`"NumericGreaterThanEquals":{"a:n":11}`, false, false},
		{`"NumericEquals":{"a:one":1}`, false, false},
		{`"DateGreaterThan":{"a:date":"2026-11-23T09:59:59Z"},"DateLessThan":{"a:date":"2026-11-24"}`, true, true},
		{`"DateEquals":{"a:date":"2026-11-23T11:00:00+01:00"}`, true, true},
		{`"DateEquals":{"a:date":1795428000}`, true, true},
		{`"DateNotEquals":{"a:date":"2026"}`, true, true},
		{`"DateLessThanEquals":{"a:date":"2026-11-22"}`, false, false},
		{`"Bool":{"a:yes":true}`, true, true},
		{`"Bool":{"a:yes":"TRUE"}`, true, true},
		{`"Bool":{"a:yes":"false"}`, false, false},
		{`"BinaryEquals":{"a:bytes":"QmluYXJ5"}`, true, true},
		{`"IpAddress":{"a:ip":"203.0.113.0/24"}`, true, true},
		{`"IpAddress":{"a:mapped":"203.0.113.0/24"}`, true, true},
		{`"IpAddress":{"a:ip":["10.0.0.0/8","203.0.113.7"]}`, true, true},
		{`"NotIpAddress":{"a:ip":"203.0.113.0/24"}`, false, false},
		{`"IpAddress":{"a:ip6":"2001:db8::/32"}`, true, true},
		{`"IpAddress":{"a:one":"0.0.0.0/0"}`, false, false},
		{`"ArnLike":{"a:arn":"arn:aws:iam::*:role/*"}`, true, true},
		{`"ArnEquals":{"a:arn":"arn:aws:iam::*:role/x/?"}`, true, true},
		{`"ArnLike":{"a:arn":"arn:aws:*:role/x/y"}`, false, false}, // a * takes nothing of the next part
		{`"ArnNotLike":{"a:arn":"arn:aws:iam::*:user/*"}`, true, true},
		{`"Null":{"a:none":"true","a:one":"false"}`, true, true},
		{`"Null":{"a:none":"false"}`, false, false},
		{`"ForAllValues:StringEquals":{"a:two":["x","y","z"]}`, true, true},
		{`"ForAllValues:StringEquals":{"a:two":["x"]}`, false, false},
		{`"ForAllValues:StringEquals":{"a:none":["x"]}`, true, true},
		{`"ForAllValues:StringNotEquals":{"a:two":["z"]}`, true, true},
		{`"ForAnyValue:StringEquals":{"a:two":["y"]}`, true, true},
		{`"ForAnyValue:StringEquals":{"a:none":["y"]}`, false, false},
		{`"ForAnyValue:StringNotEquals":{"a:two":["y"]}`, true, true},
		{`"StringEquals":{"a:one":"x"},"Bool":{"a:yes":"false"}`, false, false},

		// Several values without a quantifier: all to allow, one to deny.
		{`"StringEquals":{"a:two":"x"}`, false, true},
		{`"StringNotEquals":{"a:two":"x"}`, false, true},
		// Values without a bound.
		{`"ForAllValues:StringEquals":{"a:all":"x"}`, false, true},
		{`"ForAnyValue:StringLike":{"a:all":"*"}`, false, true},
		{`"StringEqualsIfExists":{"a:more":"x"}`, false, true},
		{`"StringNotEquals":{"a:more":"z"}`, false, true},
		{`"Null":{"a:all":"true","a:more":"false"}`, true, true},

		// Variables.
		{`"StringEquals":{"a:one":"${aws:username}"}`, false, false},
		{`"StringEquals":{"aws:username":"${AWS:UserName}"}`, true, true},
		{`"StringEquals":{"a:one":"${a:none, 'x'}"}`, true, true},
		{`"StringEquals":{"a:one":"${a:none}"}`, false, false},
		{`"StringNotEquals":{"a:one":"${a:none}"}`, false, true}, // what it would have excluded is not known
		{`"StringEquals":{"a:one":"${a:two, 'x'}"}`, true, true}, // several values are none
		{`"StringLike":{"a:case":"${a:star}"}`, false, false},    // a value's * is itself
		{`"StringLike":{"a:star":"${a:star}"}`, true, true},
		{`"StringEquals":{"aws:PrincipalTag/team":"${aws:principaltag/TEAM}"}`, true, true},
		{`"ArnEquals":{"aws:PrincipalArn":"arn:aws:iam::${aws:PrincipalAccount}:user/${aws:username}"}`, true, true},
		{`"StringEquals":{"aws:PrincipalType":"User","aws:userid":"AIDAJANE"}`, true, true},
		{`"StringEqualsIgnoreCase":{"a:one":"${a:none,'X'}"}`, true, true},
	} {
		p := mustParse(t, allow(c.condition), Identity)
		r := &Request{Action: "dynamodb:GetItem", Resource: table, Account: testAccount, Keys: request}
		if got := Evaluate(userWith(p), r); (got == Allowed) != c.allow {
			t.Errorf("allow on %s: decision %d, want allowed %t", c.condition, got, c.allow)
		}
		deny := mustParse(t, strings.Replace(allow(c.condition), "Allow", "Deny", 1), Identity)
		if got := Evaluate(userWith(deny), r); (got == IdentityDenies) != c.denyd {
			t.Errorf("deny on %s: decision %d, want denied %t", c.condition, got, c.denyd)
		}
	}
}

// TestVersion2008HasNoVariables checks that a document without the newer version takes ${…} as it stands.
func TestVersion2008HasNoVariables(t *testing.T) {
	for _, version := range []string{"", `"Version":"2008-10-17",`} {
		p := mustParse(t, strings.Replace(allow(`"StringEquals":{"a:x":"${aws:username}"}`), `"Version":"2012-10-17",`, version, 1), Identity)
		r := &Request{Action: "dynamodb:GetItem", Resource: table, Account: testAccount, Keys: keys{"a:x": One("${aws:username}")}}
		if got := Evaluate(userWith(p), r); got != Allowed {
			t.Errorf("%q: %d", version, got)
		}
	}
}

// TestMatching checks actions and resources.
func TestMatching(t *testing.T) {
	for _, c := range []struct {
		action, resource string // members of the statement
		want             bool
	}{
		{`"Action":"dynamodb:GetItem"`, `"Resource":"*"`, true},
		{`"Action":"DYNAMODB:getitem"`, `"Resource":"*"`, true},
		{`"Action":"dynamodb:Get*"`, `"Resource":"*"`, true},
		{`"Action":"dynamodb:?etItem"`, `"Resource":"*"`, true},
		{`"Action":"*"`, `"Resource":"*"`, true},
		{`"Action":["s3:*","dynamodb:Put*"]`, `"Resource":"*"`, false},
		{`"NotAction":"dynamodb:Put*"`, `"Resource":"*"`, true},
		{`"NotAction":"dynamodb:Get*"`, `"Resource":"*"`, false},
		{`"Action":"*"`, `"Resource":"` + table + `"`, true},
		{`"Action":"*"`, `"Resource":"` + table + `/index/*"`, false},
		{`"Action":"*"`, `"Resource":"` + table + `*"`, true},
		{`"Action":"*"`, `"Resource":"arn:aws:dynamodb:*:*:table/M?sic"`, true},
		{`"Action":"*"`, `"Resource":"arn:aws:dynamodb:*:table/Music"`, false},
		{`"Action":"*"`, `"Resource":"arn:aws:dynamodb:*"`, true},
		{`"Action":"*"`, `"Resource":"arn:aws:dynamodb:us-east-1:111122223333:table/music"`, false},
		{`"Action":"*"`, `"Resource":"arn:aws:dynamodb:us-east-1:${aws:PrincipalAccount}:table/*"`, true},
		{`"Action":"*"`, `"Resource":"arn:aws:dynamodb:*:*:table/${a:none}*"`, false},
		{`"Action":"*"`, `"NotResource":"arn:aws:dynamodb:*:*:table/Books"`, true},
		{`"Action":"*"`, `"NotResource":"` + table + `"`, false},
		{`"Action":"*"`, `"NotResource":"arn:aws:dynamodb:*:*:table/${a:none}"`, false},
	} {
		p := mustParse(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",`+c.action+`,`+c.resource+`}]}`, Identity)
		got := Evaluate(userWith(p), &Request{Action: "dynamodb:GetItem", Resource: table, Account: testAccount})
		if (got == Allowed) != c.want {
			t.Errorf("%s %s: decision %d", c.action, c.resource, got)
		}
	}
}

// TestFaults checks what Parse refuses, with the place.
func TestFaults(t *testing.T) {
	statement := func(members string) string { return `{"Statement":[{"Effect":"Allow",` + members + `}]}` }
	for _, c := range []struct {
		document string
		kind     Kind
		want     string
	}{
		{``, Identity, "Syntax errors in policy. At line 1, column 1."},
		{`[]`, Identity, "Syntax errors in policy. At line 1, column 1."},
		{"{\n  \"Version\": nope}", Identity, "Syntax errors in policy. At line 2, column 14."},
		{`{"Statement":[]}{}`, Identity, "Syntax errors in policy. At line 1, column 17."},
		{strings.Repeat("[", 100000), Identity, "Syntax errors in policy."},
		{`{"Version":"2012-10-18"}`, Identity, "The policy must contain a valid version string. At line 1, column 12."},
		{`{"Version":"2012-10-17","Version":"2012-10-17"}`, Identity, "Duplicate field Version. At line 1, column 25."},
		{`{"Statements":[]}`, Identity, "Unknown field Statements. At line 1, column 2."},
		{`{"Statement":[]}`, Identity, "Statement is empty."},
		{`{"Statement":[7]}`, Identity, "Statement must be an object"},
		{`{"Statement":{"Effect":"allow"}}`, Identity, "Invalid effect: allow. At line 1, column 24."},
		{statement(`"Action":"*"`), Identity, "Missing required field Resource."},
		{statement(`"Resource":"*"`), Identity, "Missing required field Action."},
		{statement(`"Action":"*","NotAction":"*"`), Identity, "either Action or NotAction"},
		{statement(`"Action":"GetItem","Resource":"*"`), Identity, "prefaced by a vendor, e.g., iam, sdb, ec2, etc. Found: GetItem."},
		{statement(`"Action":[],"Resource":"*"`), Identity, "Action must be a string"},
		{statement(`"Action":"*","Resource":[null]`), Identity, "Resource must be a string"},
		{statement(`"Action":"*","Resource":"Music"`), Identity, `Resource Music must be in ARN format or "*".`},
		{statement(`"Action":"*","Resource":"*","Sid":"a b"`), Identity, "must be alpha-numeric"},
		{statement(`"Action":"*","Resource":"*","Principal":"*"`), Identity, "Has prohibited field Principal."},
		{statement(`"Action":"*","Principal":"*","Resource":"*"`), Trust, "Has prohibited field Resource."},
		{statement(`"Action":"*","Resource":"*"`), Resource, "Missing required field Principal."},
		{statement(`"Action":"*","Resource":"*","Principal":{"AWS":"jane"}`), Resource, "Invalid principal in policy: AWS:jane."},
		{statement(`"Action":"*","Resource":"*","Condition":[]`), Identity, "Condition must be"},
		{statement(`"Action":"*","Resource":"*","Condition":{"Like":{"a:b":"c"}}`), Identity, "Invalid Condition type : Like."},
		{statement(`"Action":"*","Resource":"*","Condition":{"NullIfExists":{"a:b":"true"}}`), Identity, "Invalid Condition type : NullIfExists."},
		{statement(`"Action":"*","Resource":"*","Condition":{"Bool":{"a:b":"perhaps"}}`), Identity, "Invalid value of a condition: perhaps."},
		{statement(`"Action":"*","Resource":"*","Condition":{"Bool":{"ab":"true"}}`), Identity, "Found: ab."},
		{statement(`"Action":"*","Resource":"*","Condition":{"IpAddress":{"a:b":"1.2.3"}}`), Identity, "Invalid value of a condition: 1.2.3."},
		{statement(`"Action":"*","Resource":"*","Condition":{"NumericEquals":{"a:b":1e999999999}}`), Identity, "Invalid value of a condition"},
		{`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"arn:aws:dynamodb:::${aws:x"}}`, Identity, "Invalid policy variable: ${aws:x."},
		{`{"Statement":[{"Sid":"a","Effect":"Deny","Action":"*","Resource":"*"},{"Sid":"a","Effect":"Deny","Action":"*","Resource":"*"}]}`, Identity, "must be unique"},
	} {
		if _, err := Parse(c.document, c.kind); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, want %q", c.document, err, c.want)
		}
	}
}
