package catalog

// Scaling is the auto scaling settings of a replica's capacity, as requested; no scaling takes place.
type Scaling struct {
	Disabled    bool    `json:"disabled,omitempty"`
	Min         *int64  `json:"min,omitempty"`
	Max         *int64  `json:"max,omitempty"`
	Role        string  `json:"role,omitempty"`
	Policy      string  `json:"policy,omitempty"`
	Target      float64 `json:"target,omitempty"` // 0 without a policy
	KeepHigh    *bool   `json:"keepHigh,omitempty"`
	InCooldown  *int64  `json:"inCooldown,omitempty"`
	OutCooldown *int64  `json:"outCooldown,omitempty"`
}

// The names of a table's Scaling settings; an index appends its own name.
const (
	ScalesReads  = "read/"
	ScalesWrites = "write/"
)
