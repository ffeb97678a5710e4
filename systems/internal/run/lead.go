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
	// beatEvery is how often the process that follows a stream shows that it is there.
	beatEvery = 2 * time.Second
	// silence is after how long without that another one takes its place.
	silence = 8 * time.Second
	// releaseTime is how long a process that ends takes to say so.
	releaseTime = 2 * time.Second
)

// errNotLeading ends what only one process does when another one does it.
var errNotLeading = errors.New("another process does it")

// leader lets one of several processes do something. It keeps an item in the table of checkpoints, with who does it and a number that
// moves on. The others watch the number by their own clocks, so that no two clocks are compared; who stands still is replaced.
//
// It saves work and does not guard data: for a moment after a pause two may believe that they lead. The checkpoints tell them apart,
// and handlers bear the same records twice.
type leader struct {
	db                 *dynamodb.Client
	name, id           string
	beatEvery, silence time.Duration
}

func newLeader(db *dynamodb.Client, name string) *leader {
	return &leader{db, name, rand.Text(), beatEvery, silence}
}

// lead does something when it is this process's turn, until it fails, the context ends, or another process has taken the place.
func (l *leader) lead(ctx context.Context, do func(context.Context) error) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	leading, lose := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { lose(l.beat(leading)) })
	err := do(leading)
	if lost := context.Cause(leading); ctx.Err() == nil && errors.Is(lost, errNotLeading) {
		err = lost
	}
	lose(nil)
	beating.Wait()
	l.release(context.WithoutCancel(ctx))
	return err
}

// wait returns when nobody else leads.
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

// beat moves the number on until the context ends; it returns when another process leads, or nobody can be told that this one does.
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

// release lets another process lead at once.
func (l *leader) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	_, _ = l.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{ // where it fails, silence tells
		TableName: aws.String(CheckpointTable), Key: l.key(), ConditionExpression: aws.String("#owner = :own"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"}, ExpressionAttributeValues: map[string]types.AttributeValue{":own": &types.AttributeValueMemberS{Value: l.id}},
	})
}

func (l *leader) key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"consumer": &types.AttributeValueMemberS{Value: "leader of " + l.name}, "shard": &types.AttributeValueMemberS{Value: "-"}}
}

// done tells whether a write that demands something has been made.
func (l *leader) done(_ any, err error) (bool, error) {
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lead %s: %w", l.name, err)
	}
	return true, nil
}
