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
