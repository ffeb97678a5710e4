package monotable_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
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

// sendAgain sends a request repeatedly. All responses have the same length.
func sendAgain(b *testing.B, address string, request []byte) {
	b.Helper()
	connection, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer connection.Close()
	response := make([]byte, 4<<10)
	send := func(response []byte, atLeast int) int {
		if _, err := connection.Write(request); err != nil {
			b.Fatal(err)
		}
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
