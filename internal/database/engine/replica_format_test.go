package engine

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
)

// TestReplicaFormat holds the bytes of what replication stores beside keys and log records; they must never change.
func TestReplicaFormat(t *testing.T) {
	version := itemVersion{0x0102030405060708, "eu-west-1"}
	for _, c := range []struct{ what, got, want string }{
		{"version of an item", hex.EncodeToString(version.encode()), "0102030405060708" + hex.EncodeToString([]byte("eu-west-1"))},
		{"position", hex.EncodeToString(encodeSeq(0x0102030405060708)), "0102030405060708"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	if got, err := decodeItemVersion(version.encode()); got != version || err != nil {
		t.Errorf("decoded version %+v, %v, want %+v", got, err, version)
	}
	wantJSON(t, job.Record{Format: 1, Kind: job.Replica, Table: 7, Name: "Music", Region: "us-east-1", NotBefore: 1, Cursor: []byte{1}},
		`{"format":1,"kind":103,"table":7,"name":"Music","notBefore":1,"cursor":"AQ==","region":"us-east-1"}`)
	wantJSON(t, job.Record{Format: 1, Kind: job.Leave, Table: 7, Name: "Music"}, `{"format":1,"kind":101,"table":7,"name":"Music"}`)
	wantJSON(t, catalog.GlobalTable{
		Region: "eu-west-1", Version: catalog.GlobalVersion2019,
		Replicas: []catalog.Replica{{Region: "sa-east-1", State: catalog.ReplicaLeaving}, {Region: "us-east-1", State: catalog.ReplicaCreating}, {Region: "us-east-2"}},
		Filling:  true, Leaving: true, Stays: true, SourceAt: 1, Unprotected: true, Created: 2,
		Overrides: catalog.Overrides{Read: new(int64(3)), MaxRead: new(int64(4)), Class: "STANDARD", Key: "arn", Indexes: []catalog.IndexOverrides{{Name: "byV", Read: new(int64(5)), MaxRead: new(int64(6))}}},
	}, `{"region":"eu-west-1","version":"2019.11.21",`+
		`"replicas":[{"region":"sa-east-1","state":"leaving"},{"region":"us-east-1","state":"creating"},{"region":"us-east-2"}],`+
		`"filling":true,"leaving":true,"stays":true,"sourceAt":1,"unprotected":true,`+
		`"overrides":{"read":3,"maxRead":4,"class":"STANDARD","key":"arn","indexes":[{"name":"byV","read":5,"maxRead":6}]},"created":2}`)
	wantJSON(t, catalog.Scaling{
		Disabled: true, Min: new(int64(1)), Max: new(int64(2)), Role: "role", Policy: "policy", Target: 70.5, KeepHigh: true,
		InCooldown: new(int64(3)), OutCooldown: new(int64(4)),
	}, `{"disabled":true,"min":1,"max":2,"role":"role","policy":"policy","target":70.5,"keepHigh":true,"inCooldown":3,"outCooldown":4}`)
	wantJSON(t, catalog.GlobalTable{Region: "us-east-1", Version: catalog.GlobalVersion2019, Strong: true, Witness: "us-west-2"},
		`{"region":"us-east-1","version":"2019.11.21","strong":true,"witness":"us-west-2"}`)
}

// wantJSON checks the stored form of v, and that v is read from it.
func wantJSON[T any](t *testing.T, v T, want string) {
	t.Helper()
	got, err := json.Marshal(v)
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant\n%s", got, err, want)
	}
	var read T
	if err := json.Unmarshal([]byte(want), &read); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(v, read); diff != "" {
		t.Error(diff)
	}
}
