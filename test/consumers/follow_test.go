package consumers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
)

// followInGo follows the stream with package consumer until ctx ends. Every few seconds it stops and continues
// with a new Consumer, from the checkpoints in its file.
func followInGo(ctx context.Context, j *judge, client *dynamodbstreams.Client, arn string, random *rand.Rand) {
	path := filepath.Join(j.t.TempDir(), "checkpoints.json")
	for ctx.Err() == nil {
		file, err := consumer.OpenFile(path)
		if err != nil {
			j.end(err)
			return
		}
		c, err := consumer.New(client, arn, j.handle, consumer.Options{
			Checkpoints: judged{file, j}, PollInterval: 100 * time.Millisecond, DiscoverInterval: 500 * time.Millisecond,
			RetryMax: 500 * time.Millisecond,
		})
		if err != nil {
			j.end(err)
			return
		}
		life, cancel := context.WithTimeout(ctx, 500*time.Millisecond+time.Duration(random.IntN(4000))*time.Millisecond)
		err = c.Run(life)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			j.end(fmt.Errorf("the consumer ended: %w", err))
			return
		}
	}
	j.end(ctx.Err())
}

// handle is the consumer's handler.
func (j *judge) handle(_ context.Context, b consumer.Batch) error {
	all := make([]delivery, len(b.Records))
	for i, r := range b.Records {
		all[i] = delivery{Shard: b.Shard, Sequence: *r.Dynamodb.SequenceNumber, Item: r.Dynamodb.Keys["item"].(*types.AttributeValueMemberS).Value}
		var err error
		if all[i].New, err = versionOf(r.Dynamodb.NewImage); err != nil {
			return err
		}
		if r.Dynamodb.OldImage == nil {
			continue
		}
		if all[i].Old, err = versionOf(r.Dynamodb.OldImage); err != nil {
			return err
		}
	}
	j.deliver(all)
	return nil
}

func versionOf(image map[string]types.AttributeValue) (int, error) {
	version, ok := image["version"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("image %v has no version", image)
	}
	return strconv.Atoi(version.Value)
}

// judged reports saved checkpoints to the judge.
type judged struct {
	consumer.Checkpoints
	judge *judge
}

func (s judged) Save(ctx context.Context, stream, shard string, c consumer.Checkpoint) error {
	err := s.Checkpoints.Save(ctx, stream, shard, c)
	if err == nil {
		s.judge.save(shard, c.Sequence)
	}
	return err
}

// script is js/follow.js, which follows the stream with the JavaScript SDK.
type script struct {
	judge *judge
	args  []string // for follow.js
}

// follow runs the script until ctx ends, which kills it.
func (s *script) follow(ctx context.Context) {
	node := exec.CommandContext(ctx, "node", append([]string{"follow.js"}, s.args...)...)
	node.Dir = "js"
	var complaints bytes.Buffer
	node.Stderr = &complaints
	stdout, err := node.StdoutPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		s.judge.end(err)
		return
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if err := s.judge.read(lines.Bytes()); err != nil && ctx.Err() == nil { // otherwise killed in the middle of a line
			s.judge.end(err)
		}
	}
	if err := node.Wait(); ctx.Err() == nil {
		s.judge.end(fmt.Errorf("follow.js: %w\n%s", err, &complaints))
	}
}

// read processes a line of follow.js.
func (j *judge) read(line []byte) error {
	var said struct {
		Records    []delivery
		Checkpoint *struct{ Shard, Sequence string }
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return fmt.Errorf("follow.js says %q: %w", line, err)
	}
	j.deliver(said.Records)
	if said.Checkpoint != nil {
		j.save(said.Checkpoint.Shard, said.Checkpoint.Sequence)
	}
	return nil
}
