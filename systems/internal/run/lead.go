package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	// beatEvery is the interval of the leader's heartbeat.
	beatEvery = 2 * time.Second
	// silence is the time without a heartbeat after which another process takes over.
	silence = 8 * time.Second
	// releaseTime limits how long an ending process takes to resign.
	releaseTime = 2 * time.Second
)

// errNotLeading ends a leader's work when another process leads.
var errNotLeading = errors.New("another process does it")

// leader elects one of several processes. It keeps an item in the checkpoint table with the leader and a counter that the leader
// increments. The other processes watch the counter and measure time by their own clocks, so no clocks are compared. A leader
// whose counter stops is replaced.
//
// The election avoids duplicate work but does not protect data: after a pause two processes may briefly both believe that they
// lead. Conditional checkpoint writes detect this, and handlers tolerate redelivered records.
type leader struct {
	db                 *dynamodb.Client
	name, id           string
	beatEvery, silence time.Duration
}

func newLeader(db *dynamodb.Client, name string) *leader {
	return &leader{db, name, rand.Text(), beatEvery, silence}
}

// lead runs a function while this process leads, until it fails, the context ends, or another process takes over.
func (l *leader) lead(ctx context.Context, do func(context.Context) error) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	leading, stop := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { stop(l.beat(leading)) })
	err := do(leading)
	if lost := context.Cause(leading); ctx.Err() == nil && errors.Is(lost, errNotLeading) {
		err = lost
	}
	stop(nil)
	beating.Wait()
	l.release(context.WithoutCancel(ctx))
	return err
}

// wait returns when no other process leads.
func (l *leader) wait(ctx context.Context) error {
	var seen string
	var since time.Time
	for {
		found, err := l.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(CheckpointTable), Key: l.key(), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return fmt.Errorf("lead %s: %w", l.name, err)
		}
		owner, _ := found.Item["owner"].(*types.AttributeValueMemberS)
		beat, _ := found.Item["beat"].(*types.AttributeValueMemberN)
		claim := &dynamodb.PutItemInput{TableName: aws.String(CheckpointTable), Item: l.key(), ConditionExpression: aws.String("attribute_not_exists(consumer)")}
		claim.Item["owner"], claim.Item["beat"] = &types.AttributeValueMemberS{Value: l.id}, &types.AttributeValueMemberN{Value: "0"}
		free := owner == nil || beat == nil
		if !free {
			if now := owner.Value + " " + beat.Value; now != seen {
				seen, since = now, time.Now()
			}
			free = time.Since(since) >= l.silence
			claim.ConditionExpression = aws.String("#owner = :owner AND beat = :beat")
			claim.ExpressionAttributeNames = map[string]string{"#owner": "owner"}
			claim.ExpressionAttributeValues = map[string]types.AttributeValue{":owner": owner, ":beat": beat}
		}
		if free {
			if mine, err := l.done(l.db.PutItem(ctx, claim)); mine || err != nil {
				return err
			}
		}
		pause(ctx, l.beatEvery)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// beat increments the counter until the context ends. It returns when another process leads, or when the leadership cannot be
// renewed.
func (l *leader) beat(ctx context.Context) error {
	last := time.Now()
	for {
		pause(ctx, l.beatEvery)
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		mine, err := l.done(l.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(CheckpointTable), Key: l.key(), UpdateExpression: aws.String("ADD beat :one"), ConditionExpression: aws.String("#owner = :own"),
			ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}, ":own": &types.AttributeValueMemberS{Value: l.id}},
		}))
		switch {
		case mine:
			last = time.Now()
		case err == nil, time.Since(last) >= l.silence:
			return errNotLeading
		}
	}
}

// release lets another process lead immediately.
func (l *leader) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	_, _ = l.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{ // best effort: otherwise the others wait for the silence
		TableName: aws.String(CheckpointTable), Key: l.key(), ConditionExpression: aws.String("#owner = :own"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"}, ExpressionAttributeValues: map[string]types.AttributeValue{":own": &types.AttributeValueMemberS{Value: l.id}},
	})
}

func (l *leader) key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"consumer": &types.AttributeValueMemberS{Value: "leader of " + l.name}, "shard": &types.AttributeValueMemberS{Value: "-"}}
}

// done reports whether a conditional write succeeded.
func (l *leader) done(_ any, err error) (bool, error) {
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lead %s: %w", l.name, err)
	}
	return true, nil
}
