package monotable_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
)

// inspect calls an operation of the server's own, signed.
func (g *guarded) inspect(c aws.CredentialsProvider, operation, input string, out any) string {
	g.Helper()
	r, err := http.NewRequestWithContext(g.Context(), http.MethodPost, g.url, strings.NewReader(input))
	if err != nil {
		g.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "Monotable_20261127."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	if c != nil {
		key, err := c.Retrieve(g.Context())
		if err != nil {
			g.Fatal(err)
		}
		sum := sha256.Sum256([]byte(input))
		if err := v4.NewSigner().SignHTTP(g.Context(), key, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now()); err != nil {
			g.Fatal(err)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		g.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		g.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		var fault struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(body, &fault); err != nil || response.StatusCode >= http.StatusInternalServerError {
			g.Fatalf("%d %s", response.StatusCode, body)
		}
		return fault.Type + ": " + fault.Message
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(out); err != nil {
		g.Fatal(err)
	}
	return ""
}

// TestDescribeServer: slow requests are listed with what they waited for, the store describes its levels, and policies are
// asked.
func TestDescribeServer(t *testing.T) {
	g := openGuarded(t, t.TempDir(), monotable.Options{SlowRequest: time.Nanosecond})
	g.manage(monotable.IAMRequest{
		Action: "policy create", Name: "look", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"monotable:Describe*","Resource":"*"}}`,
	})
	g.manage(monotable.IAMRequest{Action: "policy create", Name: "tables", Document: allowTables})
	if _, err := g.db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	}); err != nil {
		t.Fatal(err)
	}
	_, err := g.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	var server struct {
		SlowTotal    int
		SlowRequests []struct {
			ID, Operation  string
			Tables         []string
			Took, SyncWait float64
		}
		Storage struct {
			Levels          []any
			FileSystemBytes int64
		}
		Servers []any
	}
	ana := g.user("ana", "look")
	g.want("described", g.inspect(ana, "DescribeServer", `{}`, &server), "")
	put := server.SlowRequests[0]
	if server.SlowTotal != 2 || put.Operation != "PutItem" || put.ID == "" || put.Tables[0] != "things" || put.SyncWait <= 0 || put.Took < put.SyncWait {
		t.Errorf("slow requests: %+v", server)
	}
	if len(server.Storage.Levels) != 7 || server.Storage.FileSystemBytes == 0 || len(server.Servers) != 0 {
		t.Errorf("storage: %+v", server)
	}
	g.want("not allowed", g.inspect(g.user("eva", "tables"), "DescribeServer", `{}`, nil),
		"AccessDeniedException: User: arn:aws:iam::000000000000:user/eva is not authorized to perform: monotable:DescribeServer on resource: *")
	g.want("nobody", g.inspect(nil, "DescribeServer", `{}`, nil), missing)
	g.want("unknown", g.inspect(ana, "Reboot", `{}`, nil), "UnknownOperationException: The operation Reboot is not served.")
	g.want("misspelt", g.inspect(ana, "DescribeServer", `{"Tabel":1}`, nil), `ValidationException: The request body cannot be read: json: unknown field "Tabel"`)
}
