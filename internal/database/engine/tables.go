package engine

import "github.com/monotable/monotable/internal/database/engine/catalog"

// Tables returns the tables that exist, by name; read only.
func (e *Engine) Tables() map[string]*catalog.Table { return e.catalog.Tables() }
