package system

import "github.com/aws/aws-sdk-go-v2/service/dynamodb"

// Tables are the tables of a generated package: what its CreateTables and TimeToLive return.
func Tables(create []*dynamodb.CreateTableInput, expiry []*dynamodb.UpdateTimeToLiveInput) []Table {
	tables := make([]Table, len(create))
	for i, c := range create {
		tables[i].Create = c
		for _, e := range expiry {
			if *e.TableName == *c.TableName {
				tables[i].TTL = *e.TimeToLiveSpecification.AttributeName
			}
		}
	}
	return tables
}
