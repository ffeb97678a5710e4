package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// sizeUnits are the units of sizes, longest first.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// parseSize parses a number of bytes with or without a unit: 512MiB, 2 GB, 1048576.
func parseSize(text string) (int64, error) {
	number, unit := text, int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q is not a size: want a number of bytes, or one with a unit like 512MiB or 2GB", text)
	}
	return n * unit, nil
}
