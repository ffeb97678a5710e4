package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// warnOfEncryption warns of tables, existing or created later, that request encryption at rest in an unencrypted store. They are
// described as encrypted, because programs wait for that.
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
		e.options.Logger.Warn("tables request encryption at rest: "+how, "region", e.options.Region, "tables", len(names), "among_them", names[:min(len(names), most)])
	}
	e.catalog.OnChange(func(before, after *catalog.Table) {
		keyARN := after.Descriptor.Encryption.KeyARN
		if keyARN != "" && (before == nil || before.Descriptor.Encryption.KeyARN != keyARN) {
			e.options.Logger.Warn("a table requests encryption at rest: "+how, "region", e.options.Region, "table", after.Name, "key", keyARN)
		}
	})
}
