package consumer

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// patiently calls f until it succeeds, fails for good, or ctx ends; between attempts it rests.
func (c *Consumer) patiently(ctx context.Context, what string, f func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !isTemporary(err):
			return err
		}
		c.options.Logger.Warn("request failed and will be tried again", "what", what, "stream", c.stream, "attempt", attempt, "error", err)
		if err := c.rest(ctx, attempt); err != nil {
			return err
		}
	}
}

// rest waits before the attempt that follows the one given, from 1.
func (c *Consumer) rest(ctx context.Context, attempt int) error {
	return c.options.Sleep(ctx, backoff(c.options.RetryMin, c.options.RetryMax, attempt))
}

func backoff(shortest, longest time.Duration, attempt int) time.Duration {
	d := shortest
	for range attempt - 1 {
		if d > longest/2 {
			return longest
		}
		d *= 2
	}
	return d
}

// isTemporary reports whether a request may succeed later: throttling, faults of the server, and a network that
// broke off before or amid the answer.
func isTemporary(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
