package keyenc

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Format formats a key for people, with the space's name first and slashes between parts:
//
//	data/table 3/index 0/hash 0a1f/"user#1"/42
//
// Unknown keys are printed in hexadecimal, as is the rest of a key from the first invalid byte on.
func Format(key []byte) string {
	if len(key) == 0 {
		return "empty"
	}
	rest := key[1:]
	switch key[0] {
	case spaceCatalog:
		return formatCatalog(key)
	case spaceToken:
		return "token/" + strconv.Quote(string(rest))
	case spaceData:
		if len(key) >= partitionAt {
			table, index := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint16(key[tableKeyLen:])
			return fmt.Sprintf("data/table %d/index %d/hash %x%s",
				table, index, key[indexKeyLen:partitionAt], formatValues(key[partitionAt:]))
		}
	case spaceTTL:
		if len(key) >= tableKeyLen+secondsLen {
			table, seconds := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint64(key[tableKeyLen:])^1<<63
			return fmt.Sprintf("ttl/table %d/%d%s",
				table, int64(seconds), formatValues(key[tableKeyLen+secondsLen:]))
		}
	case spaceStatistics:
		return formatStatistics(key)
	case spaceVersion:
		if len(key) >= tableKeyLen {
			return fmt.Sprintf("version/table %d%s", binary.BigEndian.Uint32(rest), formatValues(key[tableKeyLen:]))
		}
	case spaceIdentity:
		if len(key) >= 2 {
			return fmt.Sprintf("identity/%c/%q", key[1], key[2:])
		}
	case spaceCluster:
		if len(key) >= 2 {
			return fmt.Sprintf("cluster/%c/%q", key[1], key[2:])
		}
	case spaceMetrics:
		if len(key) == metricsKeyLen {
			return fmt.Sprintf("metrics/minute %d", binary.BigEndian.Uint64(rest))
		}
	case spaceJob:
		if len(key) == jobKeyLen {
			table, index := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint16(key[tableKeyLen:])
			return fmt.Sprintf("job/table %d/index %d/%c", table, index, key[jobKeyLen-1])
		}
	}
	return formatUnknown(key)
}

func formatCatalog(key []byte) string {
	if len(key) < 2 {
		return formatUnknown(key)
	}
	rest := key[2:]
	switch {
	case key[1] == catalogFormat && len(rest) == 0:
		return "catalog/format"
	case key[1] == catalogNextID && len(rest) == 0:
		return "catalog/next table"
	case key[1] == catalogDescriptor:
		return "catalog/table " + strconv.Quote(string(rest))
	case key[1] == catalogVersion && len(rest) == 4:
		return fmt.Sprintf("catalog/version/table %d", binary.BigEndian.Uint32(rest))
	case key[1] == catalogStream && len(rest) > 4:
		return fmt.Sprintf("catalog/stream/table %d/%q", binary.BigEndian.Uint32(rest), rest[4:])
	case key[1] == catalogPosition && len(rest) > 4:
		return fmt.Sprintf("catalog/position/table %d/%q", binary.BigEndian.Uint32(rest), rest[4:])
	case key[1] == catalogDelivery && len(rest) == 4:
		return fmt.Sprintf("catalog/delivery/table %d", binary.BigEndian.Uint32(rest))
	case key[1] == catalogBackup:
		return "catalog/backup " + strconv.Quote(string(rest))
	case key[1] == catalogTransfer && len(rest) > 1:
		return fmt.Sprintf("catalog/transfer/%c/%q", rest[0], rest[1:])
	}
	return formatUnknown(key)
}

func formatStatistics(key []byte) string {
	if len(key) <= tableKeyLen {
		return formatUnknown(key)
	}
	table, rest := binary.BigEndian.Uint32(key[1:]), key[tableKeyLen+1:]
	switch {
	case key[tableKeyLen] == statisticsIndex && len(rest) == 2:
		return fmt.Sprintf("statistics/table %d/index %d", table, binary.BigEndian.Uint16(rest))
	case key[tableKeyLen] == statisticsCollection:
		return fmt.Sprintf("statistics/table %d/collection%s", table, formatValues(rest))
	}
	return formatUnknown(key)
}

func formatValues(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		v, rest, err := cutValue(b)
		if err != nil {
			fmt.Fprintf(&out, "/%s", formatUnknown(b))
			break
		}
		out.WriteByte('/')
		out.WriteString(formatValue(v))
		b = rest
	}
	return out.String()
}

func formatValue(v attr.Value) string {
	switch v.Kind() {
	case attr.KindString:
		return strconv.Quote(v.Text())
	case attr.KindBinary:
		return fmt.Sprintf("0x%x", v.Text())
	default:
		return v.Text()
	}
}

func formatUnknown(b []byte) string { return fmt.Sprintf("?%x", b) }
