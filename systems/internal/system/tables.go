package system

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
)

// Tables returns the tables of a generated package from the results of its CreateTables and TimeToLive, and its Decode.
func Tables(create []*dynamodb.CreateTableInput, expiry []*dynamodb.UpdateTimeToLiveInput, decode func(table.Item) (any, table.Place, error)) []Table {
	tables := make([]Table, len(create))
	for i, c := range create {
		tables[i].Create, tables[i].Decode = c, decode
		for _, e := range expiry {
			if *e.TableName == *c.TableName {
				tables[i].TTL = *e.TimeToLiveSpecification.AttributeName
			}
		}
	}
	return tables
}
