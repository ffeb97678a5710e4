package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

const (
	table    = "arn:aws:dynamodb:us-east-1:123456789012:table/Music"
	musicNow = table + "/stream/2026-11-20T12:00:00.000"
)

// TestDocuments checks documents as the IAM grammar and DynamoDB's list of actions have them.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, document string
		want           string // part of the message; "" accepts
	}{
		{"one statement", `{"Statement":` + statement() + `}`, ""},
		{"a list of statements", `{"Version":"2008-10-17","Id":"x","Statement":[` + statement() + `,` + statement(`"Effect":"Deny"`) + `]}`, ""},
		{"a condition", with(`"Condition":{"StringEquals":{"aws:username":"johndoe"}},"Sid":"s"`), ""},
		{"nobody", with(`"Principal":{"AWS":"*"},"Effect":"Deny"`), ""},
		{"everybody on a condition", with(`"Principal":"*","Condition":{"StringEquals":{"aws:username":"johndoe"}}`), ""},
		{"another table", with(`"Resource":"arn:aws:dynamodb:us-east-1:123456789012:table/Books"`), ""},
		{"identities", with(`"Principal":{"AWS":["arn:aws:iam::123456789012:root","arn:aws:iam::123456789012:role/a/b",
			"arn:aws:iam::123456789012:user/x","arn:aws:sts::123456789012:assumed-role/r/s"]}`), ""},
		{"a service", with(`"Principal":{"Service":"replication.dynamodb.amazonaws.com"}`), ""},
		{"all but one", with(`"NotPrincipal":{"AWS":"123456789012"}`, "Principal"), ""},
		{"patterns of actions", with(`"Action":["dynamodb:*","dynamodb:Get*","*"]`), ""},
		{"another case of an action", with(`"Action":"DynamoDB:getitem"`), ""},
		{"an index", with(`"Resource":["` + table + `","` + table + `/index/ByYear","` + table + `/index/*","` + table + `*"]`), ""},
		{"patterns of resources", with(`"Resource":["*","arn:aws:dynamodb:*:*:table/Music","arn:aws:dynamodb:us-east-1:123456789012:table/M?sic"]`), ""},

		{"no JSON", `{"Statement":`, "Invalid policy document"},
		{"no object", `[]`, "Invalid policy document"},
		{"null", `null`, "Invalid policy document"},
		{"two documents", `{"Statement":` + statement() + `}{}`, "Invalid policy document"},
		{"nothing", `{}`, "Syntax error at position (1,3)"},
		{"no policy", ` null `, "This text appears not to be a policy"},
		{"no statement", `{"Version":"2012-10-17"}`, "Syntax error at position (1,25)"},
		{"no statements", `{"Statement":[]}`, "Statement is empty!"},
		{"a statement that is null", `{"Statement":[null]}`, "Syntax error at position (1,15)"},
		{"no effect", `{"Statement":[{}]}`, "Missing required field Effect"},
		{"another version", `{"Version":"2013-01-01","Statement":` + statement() + `}`, "Version must be"},
		{"an unknown field", `{"Statements":[]}`, "Unknown field Statements"},
		{"an unknown field of a statement", with(`"Actions":"*"`), "Unknown field Actions"},
		{"another effect", with(`"Effect":"permit"`), "Effect must be"},
		{"no principal", with(`"Sid":"s"`, "Principal"), "Missing required field Principal"},
		{"two principals", with(`"NotPrincipal":"*"`), "either Principal or NotPrincipal"},
		{"no action", with(`"Action":[]`), "Action must be"},
		{"a number as action", with(`"Action":[1]`), "Action must be"},
		{"no resource", with(`"Sid":"s"`, "Resource"), "Missing required field Resource"},
		{"a condition that is no object", with(`"Condition":[]`), "Condition must be"},
		{"a principal without meaning", with(`"Principal":{"AWS":"johndoe"}`), "Invalid principal in policy document."},
		{"a group", with(`"Principal":{"AWS":"arn:aws:iam::123456789012:group/x"}`), "Invalid principal in policy document."},
		{"an unknown kind of principal", with(`"Principal":{"Aws":"*"}`), "Invalid principal in policy document."},
		{"another service", with(`"Principal":{"Service":"ec2.amazonaws.com"}`), "Policy contains invalid service principal"},
		{
			"actions on streams and accounts", with(`"Action":["dynamodb:GetRecords","dynamodb:GetItem","dynamodb:ListTables"]`),
			`The following action names are invalid: "dynamodb:GetRecords", "dynamodb:ListTables"`,
		},
		{"an action of another service", with(`"Action":"s3:GetObject"`), `action names are invalid: "s3:GetObject"`},
		{"everybody", with(`"Principal":"*"`), "grants unbounded access"},
		{"everybody's identities", with(`"Principal":{"AWS":["123456789012","*"]}`), "grants unbounded access"},
		{"statements of one name", `{"Statement":[` + statement(`"Sid":"s"`) + `,` + statement(`"Sid":"s"`) + `]}`, "The Statement Ids in the policy are not unique"},
		{"its stream", with(`"Resource":"` + musicNow + `"`), `The relative-id "table/Music/stream/`},
	} {
		t.Run(c.name, func(t *testing.T) { wantRefusal(t, Check(c.document, Table, table), c.want) })
	}
}

// TestStreamDocuments checks that a stream has actions of its own.
func TestStreamDocuments(t *testing.T) {
	stream := `"Resource":"` + musicNow + `"`
	wantRefusal(t, Check(with(stream+`,"Action":["dynamodb:GetRecords","dynamodb:DescribeStream"]`), Stream, musicNow), "")
	wantRefusal(t, Check(with(stream+`,"Action":"dynamodb:ListStreams"`), Stream, musicNow), `action names are invalid: "dynamodb:ListStreams"`)
	wantRefusal(t, Check(with(stream+`,"Action":"dynamodb:GetItem"`), Stream, musicNow), `action names are invalid: "dynamodb:GetItem"`)
	wantRefusal(t, Check(with(`"Action":"dynamodb:GetRecords"`), Stream, musicNow), `The relative-id "table/Music" is invalid`)
}

// TestSizeCountsWhiteSpace checks the limit on both sides.
func TestSizeCountsWhiteSpace(t *testing.T) {
	document := `{"Statement":` + statement() + `}`
	fits := document + strings.Repeat(" ", MaxBytes-len(document))
	wantRefusal(t, Check(fits, Table, table), "")
	wantRefusal(t, Check(fits+" ", Table, table), "Maximum policy size of 20480 bytes exceeded")
}

func wantRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Code != apierr.ValidationException || !strings.Contains(refused.Message, want) {
		t.Errorf("%v, want a ValidationException with %q", err, want)
	}
}

// with is a document of one statement with other members, and without some.
func with(members string, without ...string) string {
	return `{"Statement":` + statementWithout(members, without) + `}`
}

func statement(members ...string) string { return statementWithout(strings.Join(members, ","), nil) }

func statementWithout(members string, without []string) string {
	text := "{"
	for _, m := range [][2]string{{"Effect", `"Allow"`}, {"Principal", `{"AWS":"123456789012"}`}, {"Action", `"dynamodb:GetItem"`}, {"Resource", `"` + table + `"`}} {
		name := `"` + m[0] + `":`
		if strings.Contains(members, name) || len(without) > 0 && without[0] == m[0] {
			continue
		}
		text += name + m[1] + ","
	}
	if members == "" {
		return strings.TrimSuffix(text, ",") + "}"
	}
	return text + members + "}"
}

// FuzzCheck checks that no document makes Check fail in another way than by a refusal.
func FuzzCheck(f *testing.F) {
	f.Add(with(`"Sid":"s"`))
	f.Add(`{"Statement":[{"Effect":"Deny","NotPrincipal":{"AWS":[]},"NotAction":"*","NotResource":[""]}]}`)
	f.Fuzz(func(t *testing.T, document string) {
		for _, kind := range []Kind{Table, Stream} {
			err := Check(document, kind, table)
			var refused *apierr.Error
			if err != nil && !errors.As(err, &refused) {
				t.Errorf("%v is no refusal", err)
			}
		}
	})
}
