package system_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/system"
)

func TestTables(t *testing.T) {
	create := []*dynamodb.CreateTableInput{{TableName: aws.String("rooms")}, {TableName: aws.String("votes")}}
	expiry := []*dynamodb.UpdateTimeToLiveInput{{
		TableName: aws.String("votes"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl")},
	}}
	got := system.Tables(create, expiry, nil)
	if len(got) != 2 || got[0].Create != create[0] || got[0].TTL != "" || got[1].Create != create[1] || got[1].TTL != "ttl" {
		t.Errorf("tables %+v, want rooms without, votes with expiry by ttl", got)
	}
}
