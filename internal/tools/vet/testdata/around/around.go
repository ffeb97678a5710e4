// Package around touches a designed table; "want" says what is reported of its line.
package around

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/tools/vet/testdata/arounddb"
)

const name = "shop"

func requests(c arounddb.Config, id, table string) []any {
	return []any{
		&dynamodb.GetItemInput{TableName: aws.String(name)},                                       // want vet-table
		&dynamodb.ScanInput{TableName: aws.String("log-prod")},                                    // want vet-table
		&dynamodb.QueryInput{TableName: &c.Table},                                                 // want vet-table
		types.Put{TableName: aws.String("shop")},                                                  // want vet-table
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"shop": {}}}, // want vet-table
		&types.AttributeValueMemberS{Value: "USER#" + id},                                         // want vet-key
		&types.AttributeValueMemberS{Value: fmt.Sprintf("ORDER#%s", id)},                          // want vet-key

		&dynamodb.ScanInput{TableName: aws.String("shop")}, //monotable:allow A report that reads all, once a year.
		//monotable:allow An import.
		&dynamodb.PutItemInput{TableName: aws.String("shop")},
		&dynamodb.PutItemInput{TableName: aws.String("shop")}, //monotable:allow

		&dynamodb.ScanInput{TableName: aws.String("other")},
		&dynamodb.ScanInput{TableName: aws.String(table)},
		&dynamodb.CreateTableInput{TableName: aws.String("shop")},
		&dynamodb.DescribeTableInput{TableName: aws.String("shop")},
		&types.AttributeValueMemberS{Value: "USERS"},
		&types.AttributeValueMemberS{Value: id},
		"USER#" + id,
	}
}
