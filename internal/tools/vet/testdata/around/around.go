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

var variable = "shop"

var (
	set       = "shop"
	addressed = "shop"
)

func statements(set2 *string) []any {
	local := "shop"
	other := "shop"
	other = *set2
	in := &dynamodb.ScanInput{}
	in.TableName = aws.String("shop") // want vet-table
	in.IndexName = aws.String("shop")
	set = *set2
	set2 = &addressed
	key := "USER#" + local
	return []any{
		in, set2,
		&dynamodb.ScanInput{TableName: &local},               // want vet-table
		&dynamodb.ScanInput{TableName: aws.String(variable)}, // want vet-table
		&dynamodb.ScanInput{TableName: &other},
		&dynamodb.ScanInput{TableName: &set},
		&dynamodb.ScanInput{TableName: &addressed},
		&dynamodb.ScanInput{TableName: aws.String("arn:aws:dynamodb:us-east-1:123456789012:table/shop")},  // want vet-table
		&dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT * FROM "shop"."GSI1" WHERE x = 1`)}, // want vet-table
		&types.BatchStatementRequest{Statement: aws.String(`insert into shop value {'PK': 'x'}`)},         // want vet-table
		&types.ParameterizedStatement{Statement: aws.String(`UPDATE "other" SET note = 'from "shop"'`)},
		&types.AttributeValueMemberS{Value: "STATE#" + local}, // want vet-key
		&types.AttributeValueMemberS{Value: "MAIL#" + local},  // want vet-key
		&types.AttributeValueMemberS{Value: "PLAIN#" + local}, // want vet-key
		&types.AttributeValueMemberS{Value: key},
	}
}

// stage is where the tables are.
var stage, _ = fmt.Println()

func staged(name string) *string {
	name = fmt.Sprint(stage, name)
	return &name
}

func pointer[T any](v T) *T { return &v }

// What a function makes of a name, and what follows the beginning of a name, is unknown.
func uncertain(suffix string) []any {
	local := "shop"
	return []any{
		&dynamodb.ScanInput{TableName: staged("shop")},
		&dynamodb.ExecuteStatementInput{Statement: staged("SELECT * FROM shop")},
		&dynamodb.ExecuteStatementInput{Statement: aws.String("SELECT * FROM shop" + suffix)},
		&dynamodb.ExecuteStatementInput{Statement: aws.String(fmt.Sprintf("SELECT * FROM shop%s WHERE x = 1", suffix))},
		&dynamodb.ExecuteStatementInput{Statement: aws.String("SELECT * FROM shop WHERE x = " + suffix)}, // want vet-table
		&dynamodb.ScanInput{TableName: pointer("shop")},                                                  // want vet-table
		&dynamodb.ScanInput{TableName: pointer[string]("shop")},                                          // want vet-table
		&dynamodb.ScanInput{TableName: new("shop")},                                                      // want vet-table
		&dynamodb.ScanInput{TableName: (aws.String("shop"))},                                             // want vet-table
		&dynamodb.ScanInput{TableName: aws.String(string(local))},                                        // want vet-table
	}
}

func allowances() []any {
	return []any{
		&dynamodb.ScanInput{TableName: aws.String("shop")}, //monotable:allow Only this one.
		&dynamodb.ScanInput{TableName: aws.String("shop")}, // want vet-table
		&dynamodb.ScanInput{TableName: aws.String("shop")}, //monotable:allowed is another word. // want vet-table
		//monotable:allow A request of several lines.
		&dynamodb.ScanInput{
			IndexName: aws.String("ByState"),
			TableName: aws.String("shop"),
		},
		&dynamodb.GetItemInput{ //monotable:allow Another one.
			TableName: aws.String("shop"),
			Key:       map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "USER#" + set}},
		},
		&types.AttributeValueMemberS{Value: "USER#" + set}, // want vet-key
	}
}

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
