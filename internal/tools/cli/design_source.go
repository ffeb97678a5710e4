package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable/internal/tools/designer/source"
)

// sourceFlags say where the items of a table are read from.
type sourceFlags struct {
	endpoint, region string
	exports          []string
	segments         int
	progress         bool
}

// defaultSegments are enough to keep a disk or a small table's capacity busy.
const defaultSegments = 4

func (s *sourceFlags) register(f *pflag.FlagSet) {
	f.StringVar(&s.endpoint, "endpoint", "", "endpoint of the table, a URL or aws; default: "+endpointDefaults)
	f.StringVar(&s.region, "region", "", "region of the endpoint; default: "+regionDefaults)
	f.IntVar(&s.segments, "segments", defaultSegments, "number of segments of a table to scan in parallel")
}

// named reads a list of NAME=VALUE, in which a value alone is that of the only name there is.
func named(flag string, list, names []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok && len(names) == 1 {
			name, value = names[0], s
		} else if !ok {
			return nil, fmt.Errorf("--%s %q: the design has several tables: want NAME=%s, where NAME is one of %s", flag, s, s, strings.Join(names, ", "))
		}
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known || value == "" {
			return nil, fmt.Errorf("--%s %q: the design has no table %q; it has %s", flag, s, name, strings.Join(names, ", "))
		}
		out[name] = value
	}
	return out, nil
}

// openTable opens a table at the endpoint.
func (s *sourceFlags) openTable(ctx context.Context, env Environment, name string) (*source.Table, error) {
	if strings.Contains(name, "{") {
		return nil, fmt.Errorf("the table name %q has placeholders: use --table NAME=PHYSICAL", name)
	}
	client, err := databaseClient(ctx, env, s.endpoint, s.region)
	if err != nil {
		return nil, err
	}
	return source.OpenTable(ctx, client, name, s.segments)
}

// read collects the items of an iteration, telling how far it is.
func (s *sourceFlags) read(env Environment, what string, items iter.Seq2[source.Item, error], total int64) ([]source.Item, error) {
	bar := newProgress(env, what, unitThings, s.progress)
	if total == 0 {
		bar.begin()
	}
	defer bar.end()
	var out []source.Item
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		out = append(out, item)
		if len(out)%1000 == 0 {
			bar.update(int64(len(out)), total)
		}
	}
	return out, nil
}

// errSource is for flags that name no source, or several.
var errSource = errors.New("no source given: use --table NAME with --endpoint, --export DIR, or a model: --workbench, --electrodb, --onetable or --toolbox FILE")
