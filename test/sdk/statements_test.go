package sdk

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestStatements executes the PartiQL statements in AWS's Developer Guide with the SDK for Go, in its order, and checks their
// effects.
func TestStatements(t *testing.T) {
	t.Parallel()
	s := &statements{t, client(serverproc.Start(t, serverproc.Build(t), "--memory"))}
	s.createTable("Music", "Artist", "SongTitle")
	s.createTable("Orders", "OrderID", "")
	s.gettingStarted()
	s.pages()
	s.batch()
	s.transaction()
}

// statements has the client of a test and its steps.
type statements struct {
	*testing.T
	client *dynamodb.Client
}

func (s *statements) createTable(name, partitionKey, sortKey string) {
	s.Helper()
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, key := range []string{partitionKey, sortKey} {
		if key == "" {
			continue
		}
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{
			AttributeName: &key, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i],
		})
		kind := types.ScalarAttributeTypeS
		if key == "OrderID" {
			kind = types.ScalarAttributeTypeN
		}
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &key, AttributeType: kind})
	}
	if _, err := s.client.CreateTable(s.Context(), in); err != nil {
		s.Fatal(err)
	}
	exists := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = time.Millisecond })
	if err := exists.Wait(s.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		s.Fatal(err)
	}
}

func (s *statements) execute(statement string, parameters ...types.AttributeValue) []map[string]types.AttributeValue {
	s.Helper()
	out, err := s.client.ExecuteStatement(s.Context(), &dynamodb.ExecuteStatementInput{Statement: &statement, Parameters: parameters})
	if err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
	return out.Items
}

func text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

// gettingStarted is "Getting started with PartiQL for DynamoDB", like its Java program.
func (s *statements) gettingStarted() {
	s.Helper()
	song := []types.AttributeValue{text("Acme Band"), text("PartiQL Rocks")}
	for _, statement := range []string{
		"INSERT INTO Music value {'Artist':?,'SongTitle':?}",
		"SELECT * FROM Music  where Artist=? and SongTitle=?",
		"UPDATE Music SET AwardsWon=1 SET AwardDetail={'Grammys':[2020, 2018]}  where Artist=? and SongTitle=?",
		"UPDATE Music SET AwardDetail.Grammys =list_append(AwardDetail.Grammys,[2016])  where Artist=? and SongTitle=?",
		"UPDATE Music REMOVE AwardDetail.Grammys[2]   where Artist=? and SongTitle=?",
		"UPDATE Music set AwardDetail.BillBoard=[2020] where Artist=? and SongTitle=?",
		"UPDATE Music SET BandMembers =<<'member1', 'member2'>> where Artist=? and SongTitle=?",
		"UPDATE Music SET BandMembers =set_add(BandMembers, <<'newmember'>>) where Artist=? and SongTitle=?",
	} {
		s.execute(statement, song...)
	}
	_, err := s.client.ExecuteStatement(s.Context(), &dynamodb.ExecuteStatementInput{
		Statement: new("INSERT INTO Music value {'Artist':?,'SongTitle':?}"), Parameters: song,
	})
	if _, exists := errors.AsType[*types.DuplicateItemException](err); !exists {
		s.Errorf("the INSERT again: %v", err)
	}
	items := s.execute("SELECT BandMembers, AwardDetail.Grammys FROM Music  where Artist=? and SongTitle=?", song...)
	if len(items) != 1 {
		s.Fatalf("%d songs", len(items))
	}
	members, _ := items[0]["BandMembers"].(*types.AttributeValueMemberSS)
	grammys, _ := items[0]["Grammys"].(*types.AttributeValueMemberL)
	if members == nil || len(members.Value) != 3 || grammys == nil || len(grammys.Value) != 2 {
		s.Errorf("the song has %v", items[0])
	}
	s.execute("DELETE  FROM Music  where Artist=? and SongTitle=?", song...)
	if items := s.execute("SELECT * FROM Music  where Artist=? and SongTitle=?", song...); len(items) != 0 {
		s.Errorf("after the DELETE: %v", items)
	}
}

// pages reads with Limit and NextToken.
func (s *statements) pages() {
	s.Helper()
	for n := range 12 {
		s.execute("INSERT INTO Orders VALUE {'OrderID': ?, 'Total': ?}", number(n), number(100*n))
	}
	in := &dynamodb.ExecuteStatementInput{
		Statement: new(`SELECT OrderID, Total FROM "Orders" WHERE OrderID IN [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] ORDER BY OrderID DESC`),
	}
	var ids []string
	for requests := 1; ; requests++ {
		out, err := s.client.ExecuteStatement(s.Context(), in)
		if err != nil {
			s.Fatal(err)
		}
		for _, item := range out.Items {
			id, _ := item["OrderID"].(*types.AttributeValueMemberN)
			ids = append(ids, id.Value)
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			if requests != 2 {
				s.Errorf("%d pages", requests)
			}
			break
		}
	}
	if got := strings.Join(ids, " "); got != "11 10 9 8 7 6 5 4 3 2 1 0" {
		s.Errorf("orders %s", got)
	}
}

func (s *statements) batch() {
	s.Helper()
	out, err := s.client.BatchExecuteStatement(s.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
		{Statement: new("INSERT INTO Music value {'Artist':'Acme Band','SongTitle':'PartiQL Rocks', 'AwardDetail': {}}")},
		{Statement: new("UPDATE Music set AwardDetail.BillBoard=[2020] where Artist='Acme Band' and SongTitle='PartiQL Rocks'")},
		{
			Statement:  new("INSERT INTO Music value {'Artist':?,'SongTitle':'PartiQL Rocks'}"),
			Parameters: []types.AttributeValue{text("Acme Band")},
		},
	}})
	if err != nil {
		s.Fatal(err)
	}
	for i, want := range []types.BatchStatementErrorCodeEnum{"", "", types.BatchStatementErrorCodeEnumDuplicateItem} {
		r := out.Responses[i]
		if *r.TableName != "Music" || (r.Error == nil) != (want == "") || r.Error != nil && r.Error.Code != want {
			s.Errorf("statement %d of the batch: %v", i, r.Error)
		}
	}
}

// transaction is "Performing transactions with PartiQL for DynamoDB", executed twice.
func (s *statements) transaction() {
	s.Helper()
	s.execute("INSERT INTO Music value {'Artist':'No One You Know','SongTitle':'Call Me Today'}")
	in := &dynamodb.ExecuteTransactionInput{ClientRequestToken: new("first"), TransactStatements: []types.ParameterizedStatement{
		{Statement: new("EXISTS(SELECT * FROM Music where Artist='No One You Know' and SongTitle='Call Me Today' and Awards is  MISSING)")},
		{
			Statement:  new("INSERT INTO Music value {'Artist':?,'SongTitle':?}"),
			Parameters: []types.AttributeValue{text("Acme Band"), text("Best Song")},
		},
		{Statement: new("UPDATE Music SET AwardsWon=1 SET AwardDetail={'Grammys':[2020, 2018]}  where Artist='Acme Band' and SongTitle='PartiQL Rocks'")},
	}}
	for range 2 { // with the same token, so it takes effect once
		if _, err := s.client.ExecuteTransaction(s.Context(), in); err != nil {
			s.Fatal(err)
		}
	}
	in.ClientRequestToken = new("second")
	_, err := s.client.ExecuteTransaction(s.Context(), in)
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || *canceled.CancellationReasons[1].Code != "DuplicateItem" {
		s.Errorf("the transaction again: %v", err)
	}
}
