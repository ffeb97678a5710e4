package catalog

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// StreamARN is the ARN of a stream of a table of this database.
func (c *Catalog) StreamARN(table, label string) string {
	return c.TableARN(table) + streamPart + label
}

// streamPart is what stands between a table's name and the label in a stream's ARN.
const streamPart = "/stream/"

// ParseStreamARN returns the table and the label that the ARN of a stream names, whether or not they are there.
func (c *Catalog) ParseStreamARN(text string) (table, label string, err error) {
	arn, ok := ParseARN(text)
	if !ok || !ValidName(arn.Table) {
		return "", "", apierr.InvalidStreamARN.With(text)
	}
	if label, ok = strings.CutPrefix(arn.Rest, streamPart); !ok || label == "" {
		return "", "", apierr.InvalidStreamARN.With(text)
	}
	return arn.Table, label, c.checkScope(arn, text)
}
