package catalog

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// StreamARN returns the ARN of a stream of a table of this database.
func (c *Catalog) StreamARN(table, label string) string {
	return c.TableARN(table) + streamPart + label
}

// streamPart is the part between a table's name and the label in a stream's ARN.
const streamPart = "/stream/"

// ParseStreamARN returns the table and the label in the ARN of a stream, which need not exist.
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
