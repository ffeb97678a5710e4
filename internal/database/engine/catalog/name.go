package catalog

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// The minimum and maximum length of a table's or index's name, in bytes.
const (
	nameMin = 3
	nameMax = 255
)

const (
	arnPrefix = "arn:"
	partition = "aws"
	tableType = "table"   // of a resource in an ARN
	indexPart = "/index/" // between a table's and an index's name in an ARN
)

// TableARN returns the ARN of a table of this database.
func (c *Catalog) TableARN(name string) string {
	return "arn:aws:dynamodb:" + c.region + ":" + c.account + ":table/" + name
}

// Name returns the table name in a TableName parameter, which may be an ARN.
func (c *Catalog) Name(nameOrARN string) (string, error) {
	if !strings.HasPrefix(nameOrARN, arnPrefix) {
		if !ValidName(nameOrARN) {
			return "", apierr.InvalidName.With()
		}
		return nameOrARN, nil
	}
	arn, ok := ParseARN(nameOrARN)
	if !ok || !arn.Native() || !ValidName(arn.Table) || arn.Rest != "" {
		return "", notTableARN(nameOrARN)
	}
	return arn.Table, c.checkScope(arn, nameOrARN)
}

// notTableARN returns the error of a TableName parameter that is an ARN, but not that of a table.
func notTableARN(text string) error {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 {
		return apierr.InvalidARNFormat.With()
	}
	resource, _, named := strings.Cut(parts[5], "/")
	switch {
	case parts[1] != partition:
		return apierr.OtherPartition.With(text)
	case parts[2] == "dynamodb" && named && resource != tableType:
		return apierr.OtherResourceType.With(text)
	}
	return apierr.InvalidARNFormat.With()
}

// checkScope rejects an ARN of another account or Region, whose tables are not here.
func (c *Catalog) checkScope(arn ARN, text string) error {
	if arn.Account != c.account {
		return apierr.OtherAccount.With()
	}
	if arn.Region != c.region {
		return apierr.OtherRegion.With(text)
	}
	return nil
}

// NameOfResource returns the table name in a ResourceArn parameter. AWS accepts the ARN of a stream, but finds no tags there.
func (c *Catalog) NameOfResource(text string) (string, error) {
	arn, ok := ParseARN(text)
	switch {
	case !strings.HasPrefix(text, arnPrefix):
		return "", apierr.NotARN.With(text)
	case ok && arn.Account != c.account, !ok && foreignService(text):
		return "", apierr.OtherAccount.With()
	case !ok, !ValidName(arn.Table):
		return "", apierr.NotDynamoDBARN.With(text)
	case arn.Region != c.region:
		return "", apierr.InvalidTableARN.With(text)
	case strings.HasPrefix(arn.Rest, indexPart):
		return "", apierr.NotTableOrStream.With(text)
	case strings.HasPrefix(arn.Rest, streamPart):
		return "", apierr.ResourceNotFound.With(text)
	case arn.Rest != "":
		return "", apierr.NotDynamoDBARN.With(text)
	}
	return arn.Table, nil
}

// foreignService reports whether a text is an ARN of a service other than DynamoDB.
func foreignService(text string) bool {
	parts := strings.SplitN(text, ":", 6)
	return len(parts) == 6 && parts[0] == "arn" && parts[2] != "dynamodb"
}

// ARN is a parsed table ARN. Rest is the part after the table's name ("/index/x"), or "".
type ARN struct {
	Partition, Region, Account, Table, Rest string
}

// Native reports whether the ARN is of the partition of this server's tables.
func (a ARN) Native() bool { return a.Partition == partition }

// ParseARN parses arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME[/REST].
func ParseARN(text string) (arn ARN, ok bool) {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws") || parts[2] != "dynamodb" {
		return ARN{}, false
	}
	resource, ok := strings.CutPrefix(parts[5], tableType+"/")
	if !ok || parts[3] == "" || parts[4] == "" {
		return ARN{}, false
	}
	name, rest, found := strings.Cut(resource, "/")
	if found {
		rest = "/" + rest
	}
	return ARN{Partition: parts[1], Region: parts[3], Account: parts[4], Table: name, Rest: rest}, true
}

// ValidName reports whether a table or index may have the name.
func ValidName(name string) bool {
	if len(name) < nameMin || len(name) > nameMax {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return true
}

func nameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.'
}
