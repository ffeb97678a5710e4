package monotable_test

import (
	"context"
	"maps"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
)

// TestReplicationMetrics: changes of a global table of version 2017.11.29 are counted as pending until they arrive, and then
// their latency is measured; in CloudWatch with the dimensions that AWS documents, and for Prometheus.
func TestReplicationMetrics(t *testing.T) {
	clock := &stoppedClock{at: watchStart}
	db, err := monotable.OpenMemory(&monotable.Options{Regions: []string{ireland}, ReplicationDelay: 2 * time.Second, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	r := &regional{t, db, server.URL}
	defer r.close()
	defer server.Close()
	w := &watched{t, db, cloudwatch.New(cloudwatch.Options{
		BaseEndpoint: &server.URL, Region: virginia, Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""),
	}), watchStart}
	for _, region := range []string{virginia, ireland} {
		r.createProvisioned(region, types.StreamViewTypeNewAndOldImages)
	}
	_, err = r.client(virginia).CreateGlobalTable(t.Context(), &dynamodb.CreateGlobalTableInput{
		GlobalTableName: aws.String("Music"), ReplicationGroup: []types.Replica{{RegionName: aws.String(virginia)}, {RegionName: aws.String(ireland)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	there := []string{"TableName", "Music", "ReceivingRegion", ireland}
	back := []string{"TableName", ireland + "/Music", "ReceivingRegion", virginia}
	r.putItem(virginia, "a", "1", nil)
	r.putItem(virginia, "b", "1", nil)
	w.want(w.data("PendingReplicationCount", "Maximum", 60, there...), map[int]float64{0: 2}, "pending")
	w.want(w.data("PendingReplicationCount", "Maximum", 60, back...), map[int]float64{0: 0}, "pending the other way")
	w.want(w.data("ReplicationLatency", "SampleCount", 60, there...), nil, "latency of what has not arrived")
	w.wantReplication(map[string]float64{"Music eu-west-1": 2, "eu-west-1/Music us-east-1": 0}, map[string]float64{})

	clock.advance(2 * time.Second)
	r.eventually("the items have arrived", func(context.Context) bool { return r.item(ireland, "b") == "1" })
	r.eventually("and are counted", func(context.Context) bool {
		return maps.Equal(w.data("PendingReplicationCount", "Maximum", 60, there...), map[int]float64{0: 0})
	})
	w.want(w.data("ReplicationLatency", "SampleCount", 60, there...), map[int]float64{0: 2}, "arrived")
	w.want(w.data("ReplicationLatency", "Average", 60, there...), map[int]float64{0: 2000}, "latency in milliseconds")
	w.want(w.data("ReplicationLatency", "SampleCount", 60, back...), nil, "latency the other way")
	w.settle(clock)
	w.want(w.data("ReplicationLatency", "Sum", 60, there...), map[int]float64{0: 4000}, "latency of a minute that is over")
	w.want(w.data("PendingReplicationCount", "Sum", 60, there...), map[int]float64{0: 0, 1: 0}, "pending in both minutes")
	w.wantReplication(map[string]float64{"Music eu-west-1": 0, "eu-west-1/Music us-east-1": 0}, map[string]float64{"Music eu-west-1": 4})
}

// wantReplication checks Prometheus's metrics: pending changes, and seconds of latency, by table and receiving Region.
func (w *watched) wantReplication(pending, seconds map[string]float64) {
	w.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(w.db.Collector())
	families, err := registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	gotPending, gotSeconds := map[string]float64{}, map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case "monotable_replication_pending_changes":
				gotPending[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
			case "monotable_replication_latency_seconds":
				gotSeconds[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetHistogram().GetSampleSum()
			}
		}
	}
	if !maps.Equal(gotPending, pending) || !maps.Equal(gotSeconds, seconds) {
		w.Errorf("pending %v and seconds %v, want %v and %v", gotPending, gotSeconds, pending, seconds)
	}
}
