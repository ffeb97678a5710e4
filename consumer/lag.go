package consumer

import (
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// positions are the times up to which the shards being read have been handled.
type positions struct {
	mu      sync.Mutex
	byShard map[string]time.Time
}

// set records that everything in a shard up to a time has been handled.
func (p *positions) set(shard string, upTo time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byShard == nil {
		p.byShard = map[string]time.Time{}
	}
	p.byShard[shard] = upTo
}

// begin is set for a shard of which nothing has been handled yet.
func (p *positions) begin(shard string, first *types.Record) {
	p.mu.Lock()
	_, known := p.byShard[shard]
	p.mu.Unlock()
	if !known {
		p.set(shard, writtenAt(first))
	}
}

func (p *positions) remove(shard string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byShard, shard)
}

func (p *positions) all() map[string]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.byShard)
}

// writtenAt is the time of a record, to the second, or now if it has none.
func writtenAt(r *types.Record) time.Time {
	if r.Dynamodb == nil || r.Dynamodb.ApproximateCreationDateTime == nil {
		return time.Now()
	}
	return *r.Dynamodb.ApproximateCreationDateTime
}

// Lag returns the consumer's lag in each shard that it is reading: the time since the last handled record was written, or
// since the shard last had no more records. In a shard that is caught up, it is at most PollInterval plus the time of a
// request; it grows while a handler fails. It excludes shards of which nothing has been read yet, and those read to their
// end. It can be called at any time.
func (c *Consumer) Lag() map[string]time.Duration {
	lags := map[string]time.Duration{}
	for shard, upTo := range c.positions.all() {
		lags[shard] = max(0, time.Since(upTo))
	}
	return lags
}
