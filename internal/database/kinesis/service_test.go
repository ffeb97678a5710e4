package kinesis_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/kinesis"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestService checks what the sink sends to a service, and how it handles a response that rejects a part.
func TestService(t *testing.T) {
	var got struct {
		StreamARN, StreamName string
		Records               []struct {
			Data         []byte
			PartitionKey string
		}
	}
	response, status := `{"FailedRecordCount":1,"Records":[{"SequenceNumber":"1","ShardId":"s"},
		{"ErrorCode":"ProvisionedThroughputExceededException","ErrorMessage":"Rate exceeded"},{"SequenceNumber":"2","ShardId":"s"}]}`, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target := r.Header.Get("X-Amz-Target"); target != "Kinesis_20131202.PutRecords" {
			t.Errorf("target %q", target)
		}
		if scope := r.Header.Get("Authorization"); !strings.Contains(scope, "/eu-west-1/kinesis/aws4_request") {
			t.Errorf("authorization %q, want the stream's Region", scope)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		if _, err := w.Write([]byte(response)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	service := kinesis.NewService(server.URL, credentials.NewStaticCredentialsProvider("id", "secret", ""))
	records := []kinesis.Record{{Key: "a", Data: []byte("1")}, {Key: "b", Data: []byte("2")}, {Key: "c", Data: []byte("3")}}
	failed, err := service.Put(t.Context(), streamARN, records)
	if len(failed) != 1 || failed[0].Key != "b" || err == nil || !strings.Contains(err.Error(), "Rate exceeded") {
		t.Errorf("failed %v, %v, want the second record", failed, err)
	}
	var sent []string
	for _, r := range got.Records {
		sent = append(sent, r.PartitionKey+string(r.Data))
	}
	if diff := cmp.Diff([]string{"a1", "b2", "c3"}, sent); diff != "" || got.StreamARN != streamARN || got.StreamName != "music" {
		t.Errorf("%s, stream %s (%s)", diff, got.StreamARN, got.StreamName)
	}

	response, status = `{"__type":"ResourceNotFoundException","message":"no such stream"}`, http.StatusBadRequest
	if failed, err := service.Put(t.Context(), streamARN, records); len(failed) != 3 || err == nil {
		t.Errorf("a missing stream: failed %v, %v", failed, err)
	}
}

// TestOversizedRecordIsSkipped: a record above the stream's limit is skipped, and the ones around it arrive.
func TestOversizedRecordIsSkipped(t *testing.T) {
	arrived := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got struct{ Records []struct{ Data []byte } }
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		response := `{"Records":[{"SequenceNumber":"1"}` + strings.Repeat(`,{"SequenceNumber":"1"}`, len(got.Records)-1) + `]}`
		for _, record := range got.Records {
			if len(record.Data) > 1<<20 {
				w.WriteHeader(http.StatusBadRequest)
				response = `{"__type":"ValidationException","message":"Member must have length less than or equal to 1048576"}`
			}
		}
		if _, err := w.Write([]byte(response)); err != nil {
			t.Error(err)
		}
		if strings.HasPrefix(response, `{"Records"`) {
			for _, record := range got.Records {
				arrived <- string(record.Data)
			}
		}
	}))
	defer server.Close()
	db := open(t, memkv.New(), kinesis.NewService(server.URL, credentials.NewStaticCredentialsProvider("id", "secret", "")))
	defer db.close()
	db.create("")
	do(db, db.PutItem, `{"TableName":"Music","Item":{"pk":{"S":"before"},"v":{"N":"2"}}}`)
	do(db, db.PutItem, `{"TableName":"Music","Item":{"pk":{"S":"large"},"v":{"S":"`+strings.Repeat(`\u0001`, 200_000)+`"}}}`)
	do(db, db.PutItem, `{"TableName":"Music","Item":{"pk":{"S":"after"}}}`)
	for _, want := range []string{"before", "after"} {
		if got := <-arrived; !strings.Contains(got, `{"S":"`+want+`"}`) {
			t.Errorf("%.300s, want the record of %s", got, want)
		}
	}
}
