package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// warnOfEncryption logs the tables that ask for encryption at rest, those that are there now and those that will, in a store that is not
// encrypted. They are described as they ask, since programs wait for that.
func (e *Engine) warnOfEncryption() {
	const how = "the data directory is not encrypted, whatever SSEDescription says: monotable restore --encrypt makes an encrypted copy"
	var names []string
	for name, t := range e.catalog.Tables() {
		if t.Descriptor.Encryption.KeyARN != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		const most = 10
		e.options.Logger.Warn("tables ask for encryption at rest: "+how, "region", e.options.Region, "tables", len(names), "among_them", names[:min(len(names), most)])
	}
	e.catalog.OnChange(func(before, after *catalog.Table) {
		asks := after.Descriptor.Encryption.KeyARN
		if asks != "" && (before == nil || before.Descriptor.Encryption.KeyARN != asks) {
			e.options.Logger.Warn("a table asks for encryption at rest: "+how, "region", e.options.Region, "table", after.Name, "key", asks)
		}
	})
}
