package trinity_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

var errCrash = errors.New("the process has stopped here")

// crashing returns a DynamoDB client whose caller sometimes stops: before a request, or after it, so that the response is lost.
func crashing(client *dynamodb.Client) *dynamodb.Client {
	const one, of = 1, 25
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("crash",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					if rand.IntN(of) < one { //nolint:gosec // a test's
						return middleware.InitializeOutput{}, middleware.Metadata{}, errCrash
					}
					out, metadata, err := next.HandleInitialize(ctx, in)
					if rand.IntN(of) < one { //nolint:gosec // a test's
						return middleware.InitializeOutput{}, middleware.Metadata{}, errCrash
					}
					return out, metadata, err
				}), middleware.Before)
		})
	})
}

// persistent is a client that repeats a request until it gets a response.
type persistent struct {
	url, token string
}

func (p persistent) do(tb testing.TB, method, path, body string) {
	tb.Helper()
	for range 1000 {
		request, err := http.NewRequestWithContext(tb.Context(), method, p.url+path, strings.NewReader(body))
		if err != nil {
			tb.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+p.token)
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			tb.Error(err)
			return
		}
		_ = response.Body.Close()
		switch {
		case response.StatusCode < http.StatusMultipleChoices:
			return
		case response.StatusCode < http.StatusInternalServerError:
			tb.Errorf("%s %s: %d", method, path, response.StatusCode)
			return
		}
	}
	tb.Errorf("%s %s: no server responds", method, path)
}

// TestCrashes: people join, vote and leave concurrently, through processes that stop at any request, and repeat requests without
// a response. Nothing is lost and nothing happens twice.
func TestCrashes(t *testing.T) {
	t.Parallel()
	const voters, comers, movies = 32, 6, 3
	system := trinity.System(trinity.Options{Films: some(movies)})
	v := apitest.Open(t, system)
	p := another(t, v, system, crashing(v.Database.DynamoDB))
	room := client{v, ana}.create(t, "k")
	var all sync.WaitGroup
	for i := range voters + comers {
		who := persistent{p.url, p.token(t, fmt.Sprint("u-", i))}
		comes := i >= voters
		all.Go(func() {
			who.do(t, http.MethodPut, "/codes/"+room.Code+"/member", "")
			for f := range movies {
				if f == 0 && comes {
					continue // not the film that everyone else wants
				}
				who.do(t, http.MethodPut, fmt.Sprintf("/rooms/%s/votes/%d", room.ID, f+1), fmt.Sprintf(`{"vote":%v}`, f < 2 || comes))
			}
			if comes {
				who.do(t, http.MethodDelete, "/rooms/"+room.ID+"/member", "")
			}
		})
	}
	all.Go(func() { client{v, ana}.leave(t, room.ID) })
	all.Wait()
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	r := s.rooms[room.ID]
	if len(r.members) != voters || len(r.votes) != voters*movies {
		t.Errorf("%d members and %d votes, want %d and %d", len(r.members), len(r.votes), voters, voters*movies)
	}
	for _, movieID := range []int64{1, 2} {
		if _, ok := r.matches[movieID]; !ok {
			t.Errorf("all want film %d, and it is no match", movieID)
		}
	}
}
