package console

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// QueriesTable is the table that keeps queries:
//
//	principal (partition key, an ARN, or everyone) · entry (sort key, the list, #, and the SHA-256 of the address) · title · address · at
const QueriesTable = "monotable-console"

// everyone is the principal of requests that are not signed by an identity.
const everyone = "everyone"

// queriesWait limits how long creating the table may take: on AWS, it takes some seconds.
const queriesWait = 30 * time.Second

// queriesTable keeps queries in a table of the endpoint. Its requests are signed like all others, so the endpoint's policies
// apply.
type queriesTable struct {
	client    *dynamodb.Client
	principal string
	creates   bool // creates the table when the first query is saved
	now       func() time.Time
}

func (t *queriesTable) read(ctx context.Context) (*keptQueries, error) {
	out := &keptQueries{In: "table", Bookmarks: []query{}, History: []query{}}
	pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName: aws.String(QueriesTable), ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("principal = :p"), ExpressionAttributeValues: map[string]types.AttributeValue{":p": text(t.principal)},
	})
	for n := 0; pages.HasMorePages() && n < queriesMax; {
		page, err := pages.NextPage(ctx)
		switch {
		case refusedWith(err, "ResourceNotFoundException") && t.creates:
			return out, nil
		case refusedWith(err, "ResourceNotFoundException"):
			return browserKeeps{"noTable"}.read(ctx)
		case refusedWith(err, "AccessDeniedException"):
			return browserKeeps{"denied"}.read(ctx)
		case err != nil:
			return nil, endpointFault(err)
		}
		n += len(page.Items)
		for _, it := range page.Items {
			list, q := queryOf(it)
			switch list {
			case bookmarks:
				out.Bookmarks = append(out.Bookmarks, q)
			case history:
				out.History = append(out.History, q)
			}
		}
	}
	sortQueries(out.Bookmarks)
	slices.SortFunc(out.History, func(a, b query) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Address, b.Address)) })
	return out, nil
}

func (t *queriesTable) change(ctx context.Context, list string, change *queryChange) error {
	for _, q := range change.Add {
		if q.At.IsZero() {
			q.At = t.now()
		}
		put := &dynamodb.PutItemInput{TableName: aws.String(QueriesTable), Item: t.key(list, q.Address)}
		put.Item["title"], put.Item["address"], put.Item["at"] = text(q.Title), text(q.Address), text(q.At.UTC().Format(time.RFC3339Nano))
		_, err := t.client.PutItem(ctx, put)
		if refusedWith(err, "ResourceNotFoundException") && t.creates {
			if err = t.create(ctx); err == nil {
				_, err = t.client.PutItem(ctx, put)
			}
		}
		if err != nil {
			return endpointFault(err)
		}
	}
	for _, address := range change.Remove {
		_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(QueriesTable), Key: t.key(list, address)})
		if err != nil && !refusedWith(err, "ResourceNotFoundException") {
			return endpointFault(err)
		}
	}
	return nil
}

// key is the key of a query. Addresses may be longer than a sort key.
func (t *queriesTable) key(list, address string) map[string]types.AttributeValue {
	sum := sha256.Sum256([]byte(address))
	return map[string]types.AttributeValue{"principal": text(t.principal), "entry": text(list + "#" + hex.EncodeToString(sum[:]))}
}

// create creates the table unless it exists, and waits until it is active.
func (t *queriesTable) create(ctx context.Context) error {
	_, err := t.client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(QueriesTable), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("principal"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("entry"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("principal"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("entry"), KeyType: types.KeyTypeRange}},
	})
	if err != nil && !refusedWith(err, "ResourceInUseException") { // another tab has created it
		return endpointFault(err)
	}
	err = dynamodb.NewTableExistsWaiter(t.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second //nolint:mnd // a local database has it at once
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(QueriesTable)}, queriesWait)
	return endpointFault(err)
}

func queryOf(it map[string]types.AttributeValue) (list string, q query) {
	value := func(name string) string {
		if s, is := it[name].(*types.AttributeValueMemberS); is {
			return s.Value
		}
		return ""
	}
	list, _, _ = strings.Cut(value("entry"), "#")
	q = query{Title: value("title"), Address: value("address")}
	q.At, _ = time.Parse(time.RFC3339Nano, value("at")) // zero if another program wrote the item
	return list, q
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// principals remembers whose access keys have been used.
type principals struct {
	mu sync.Mutex
	by map[string]string // ARNs by access key ID
}

// principalsMax limits the remembered access keys.
const principalsMax = 1000

// principal returns the ARN of the identity that signs a request. If the endpoint has no identities (serve --auth off, DynamoDB
// Local), it is everyone. A remembered ARN grants nothing: the endpoint checks the signature of each request for queries.
func (c *Console) principal(r *http.Request, who aws.Credentials) (string, error) {
	c.principals.mu.Lock()
	known := c.principals.by[who.AccessKeyID]
	c.principals.mu.Unlock()
	if known != "" {
		return known, nil
	}
	found := everyone
	of := &recorder{client: c.options.Client, from: r}
	client := sts.New(sts.Options{
		BaseEndpoint: aws.String(ofSTS.endpoint(c.options.Endpoint)), Region: c.options.Region, HTTPClient: of, Retryer: aws.NopRetryer{},
		Credentials: credentials.StaticCredentialsProvider{Value: who},
	})
	said, err := client.GetCallerIdentity(r.Context(), &sts.GetCallerIdentityInput{})
	_, answered := errors.AsType[*awshttp.ResponseError](err)
	switch {
	case err == nil:
		found = aws.ToString(said.Arn)
	case c.options.SignIn || !answered:
		return "", err
	}
	c.principals.mu.Lock()
	defer c.principals.mu.Unlock()
	if c.principals.by == nil || len(c.principals.by) >= principalsMax {
		c.principals.by = map[string]string{}
	}
	c.principals.by[who.AccessKeyID] = found
	return found, nil
}
