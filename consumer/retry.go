package consumer

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// withRetry calls f until it succeeds, fails permanently, or ctx ends, with backoff between attempts.
func (c *Consumer) withRetry(ctx context.Context, what string, f func(context.Context) error) error {
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
		c.options.Logger.Warn("request failed and will be retried", "what", what, "stream", c.stream, "attempt", attempt, "error", err)
		if err := c.backoff(ctx, attempt); err != nil {
			return err
		}
	}
}

// backoff waits after the given attempt, counted from 1.
func (c *Consumer) backoff(ctx context.Context, attempt int) error {
	return c.options.Sleep(ctx, pause(c.options.RetryMin, c.options.RetryMax, attempt))
}

func pause(shortest, longest time.Duration, attempt int) time.Duration {
	d := shortest
	for range attempt - 1 {
		if d > longest/2 {
			return longest
		}
		d *= 2
	}
	return d
}

// isTemporary reports whether a request may succeed later: after throttling, server errors, and connections that broke
// before or during the response.
func isTemporary(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
