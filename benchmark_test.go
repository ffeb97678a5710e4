package monotable_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/monotabletest"
)

// BenchmarkOpenMemory opens and closes an empty database in memory.
func BenchmarkOpenMemory(b *testing.B) {
	for b.Loop() {
		db, err := monotable.OpenMemory(nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGetItem reads one item of 1 KB in process: through the SDK, and through the handler alone, which
// is the database's own part of it.
func BenchmarkGetItem(b *testing.B) {
	db := monotabletest.New(b)
	client := db.Client()
	createOrders(b.Context(), client)
	key := map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: "ana"}, "order": &types.AttributeValueMemberS{Value: "1"},
	}
	it := map[string]types.AttributeValue{"text": &types.AttributeValueMemberS{Value: strings.Repeat("x", 1000)}}
	maps.Copy(it, key)
	if _, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: it}); err != nil {
		b.Fatal(err)
	}
	b.Run("sdk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("handler", func(b *testing.B) {
		b.ReportAllocs()
		handler := db.Handler()
		body := `{"TableName":"orders","Key":{"customer":{"S":"ana"},"order":{"S":"1"}}}`
		for b.Loop() {
			request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/x-amz-json-1.0")
			request.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, request)
			if response.Code != http.StatusOK {
				b.Fatal(response.Body)
			}
		}
	})
}

// BenchmarkSignatures reads one item of 200 bytes over a socket: without a signature, with one that is not verified, as the root,
// and as a user whose policy has a condition on keys.
func BenchmarkSignatures(b *testing.B) {
	const policy = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:Query"],
		"Resource":"arn:aws:dynamodb:*:*:table/orders","Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["${aws:username}"]}}}}`
	root := aws.Credentials{AccessKeyID: "AKIABENCH", SecretAccessKey: "secret"}
	for _, c := range []struct {
		name     string
		required bool
		signed   bool
		user     bool
	}{{name: "unsigned"}, {name: "signed", signed: true}, {name: "verified", signed: true, required: true}, {name: "policy", signed: true, required: true, user: true}} {
		b.Run(c.name, func(b *testing.B) {
			db := monotabletest.NewWith(b, &monotable.Options{
				Auth: &monotable.Auth{Required: c.required, RootAccessKeyID: root.AccessKeyID, RootSecretAccessKey: root.SecretAccessKey},
			})
			client := db.Client()
			createOrders(b.Context(), client)
			if _, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
				"customer": &types.AttributeValueMemberS{Value: "ana"}, "order": &types.AttributeValueMemberS{Value: "1"},
				"text": &types.AttributeValueMemberS{Value: strings.Repeat("x", 200)},
			}}); err != nil {
				b.Fatal(err)
			}
			keys := root
			if c.user {
				for _, r := range []monotable.IAMRequest{
					{Action: "policy create", Name: "own", Document: policy}, {Action: "user create", Name: "ana", Policies: []string{"own"}},
				} {
					if _, err := db.IAM(b.Context(), &r); err != nil {
						b.Fatal(err)
					}
				}
				issued, err := db.IAM(b.Context(), &monotable.IAMRequest{Action: "key create", User: "ana"})
				if err != nil {
					b.Fatal(err)
				}
				keys = aws.Credentials{AccessKeyID: issued.Keys[0].ID, SecretAccessKey: issued.Keys[0].Secret}
			}
			server := httptest.NewServer(db.Handler())
			b.Cleanup(server.Close)
			if !c.signed {
				keys = aws.Credentials{}
			}
			sendAgain(b, server.Listener.Addr().String(), getOrder(b, server.URL, keys))
		})
	}
}

// BenchmarkWrites writes items of 1 KB with two indexes over a socket, as the comparison of the bench does, to a store on disk that
// leaves syncing to the system. Its figures of memory include the requests' whole way through the server.
func BenchmarkWrites(b *testing.B) {
	const table = `{"TableName":"Bench","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},
			{"AttributeName":"GSI1PK","AttributeType":"S"},{"AttributeName":"GSI2PK","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[
			{"IndexName":"GSI1","KeySchema":[{"AttributeName":"GSI1PK","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}},
			{"IndexName":"GSI2","KeySchema":[{"AttributeName":"GSI2PK","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`
	item := func(key, version int) string {
		return fmt.Sprintf(`"Item":{"PK":{"S":"user#%d"},"SK":{"S":"profile"},"GSI1PK":{"S":"city#%d"},"GSI2PK":{"S":"active"},"n":{"N":"%d"},
			"name":{"S":"Some Name"},"tags":{"SS":["a","b","c"]},"address":{"M":{"street":{"S":"1 Main Street"},"zip":{"S":"12345"}}},
			"text":{"S":"%s"}}`, key, key%3, version, strings.Repeat("x", 750))
	}
	several := func(n, version int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, item(i, version))
		}
		return strings.Join(parts, ",")
	}
	const update = `"TableName":"Bench","Key":{"PK":{"S":"user#%d"},"SK":{"S":"profile"}},"UpdateExpression":"SET #n = #n + :one",
		"ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":one":{"N":"1"}}`
	db, err := monotable.Open(b.TempDir(), &monotable.Options{Durability: monotable.DurabilityNone})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	call := func(operation, body string) []byte {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		var sent bytes.Buffer
		if err := r.Write(&sent); err != nil {
			b.Fatal(err)
		}
		r.Body = io.NopCloser(strings.NewReader(body))
		response := httptest.NewRecorder()
		if db.Handler().ServeHTTP(response, r); response.Code != http.StatusOK {
			b.Fatal(response.Body)
		}
		return sent.Bytes()
	}
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := server.HTTPServer(db.Handler(), slog.New(slog.DiscardHandler))
	go func() { _ = s.Serve(listener) }() // until Close
	b.Cleanup(func() { _ = s.Close() })
	call("CreateTable", table)
	call("PutItem", `{"TableName":"Bench",`+item(9, 0)+`}`) // what the transaction updates
	for _, c := range []struct {
		operation string
		body      func(version int) string
	}{
		{"PutItem", func(version int) string { return `{"TableName":"Bench",` + item(0, version) + `}` }},
		{"UpdateItem", func(int) string { return "{" + fmt.Sprintf(update, 0) + "}" }},
		{"BatchWriteItem", func(version int) string {
			return `{"RequestItems":{"Bench":[` + several(25, version, `{"PutRequest":{%s}}`) + `]}}`
		}},
		{"TransactWriteItems", func(version int) string {
			return `{"TransactItems":[` + several(4, version, `{"Put":{"TableName":"Bench",%s}}`) + `,{"Update":{` + fmt.Sprintf(update, 9) + `}}]}`
		}},
	} {
		b.Run(c.operation, func(b *testing.B) {
			sendAgain(b, listener.Addr().String(), call(c.operation, c.body(0)), call(c.operation, c.body(1)))
		})
	}
}

// getOrder returns a GetItem in wire format, signed if there are keys.
func getOrder(b *testing.B, url string, keys aws.Credentials) []byte {
	b.Helper()
	const body = `{"TableName":"orders","Key":{"customer":{"S":"ana"},"order":{"S":"1"}}}`
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	if keys.HasKeys() {
		digest := sha256.Sum256([]byte(body))
		if err := v4.NewSigner().SignHTTP(b.Context(), keys, r, hex.EncodeToString(digest[:]), "dynamodb", "us-east-1", time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	var sent bytes.Buffer
	if err := r.Write(&sent); err != nil {
		b.Fatal(err)
	}
	return sent.Bytes()
}

// sendAgain sends requests repeatedly, in turn. All responses have the same length.
func sendAgain(b *testing.B, address string, requests ...[]byte) {
	b.Helper()
	connection, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer connection.Close()
	response := make([]byte, 4<<10)
	sent := 0
	send := func(response []byte, atLeast int) int {
		if _, err := connection.Write(requests[sent%len(requests)]); err != nil {
			b.Fatal(err)
		}
		sent++
		n, err := io.ReadAtLeast(connection, response, atLeast)
		if err != nil || !bytes.HasPrefix(response, []byte("HTTP/1.1 200 ")) {
			b.Fatalf("%s, %v", response[:n], err)
		}
		return n
	}
	response = response[:send(response, 1)]
	if !bytes.HasSuffix(response, []byte("}")) {
		b.Fatalf("the first response was split: %s", response)
	}
	b.ReportAllocs()
	for b.Loop() {
		send(response, len(response))
	}
}
