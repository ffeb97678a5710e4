package around

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var inTest = &dynamodb.ScanInput{TableName: aws.String("shop")}
