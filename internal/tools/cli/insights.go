package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/plural"
)

func newInsights(env Environment) *cobra.Command {
	var data string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "insights TABLE",
		Short: "Show the most accessed and most throttled keys of a table",
		Long: `Show the most accessed and most throttled keys of a table and its global indexes over the last minutes, as counted by
the server that has the data directory open. Contributor insights must be enabled for the table or index. For a table
in a Region other than --region, use REGION/TABLE.

Accessed keys are ranked by consumed capacity units, throttled keys by requests. "±" is the amount by which a number
may be too high; it is absent while there are few keys.`,
		Example: `  aws dynamodb update-contributor-insights --table-name orders --contributor-insights-action ENABLE
  monotable insights orders
  monotable insights orders --data /var/lib/monotable/data --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := reach(cmd.Context(), env, data, &masterKeyFlags{})
			if err != nil {
				return err
			}
			in, err := db.Insights(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if len(in.Resources) == 0 {
				return fmt.Errorf("contributor insights of table %s are not enabled: enable them with UpdateContributorInsights", args[0])
			}
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(in)
			}
			return printInsights(env.Stdout, &in)
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "data directory of the server")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printInsights(out io.Writer, in *monotable.Insights) error {
	for i := range in.Resources {
		r := &in.Resources[i]
		name := "table " + in.Table
		if r.Index != "" {
			name = "index " + r.Index
		}
		if len(r.AccessedPartitionKeys)+len(r.AccessedKeys)+len(r.ThrottledPartitionKeys)+len(r.ThrottledKeys) == 0 {
			fmt.Fprintf(out, "%s: no keys counted in the last %s\n", name, plural.Of(in.Minutes, "minute"))
		}
		for _, ranking := range []struct {
			title, unit string
			ranks       []monotable.KeyRank
		}{
			{"most accessed partition keys", "UNITS", r.AccessedPartitionKeys},
			{"most accessed keys", "UNITS", r.AccessedKeys},
			{"most throttled partition keys", "REQUESTS", r.ThrottledPartitionKeys},
			{"most throttled keys", "REQUESTS", r.ThrottledKeys},
		} {
			if len(ranking.ranks) == 0 {
				continue
			}
			fmt.Fprintf(out, "%s: %s of the last %s\n", name, ranking.title, plural.Of(in.Minutes, "minute"))
			if err := printRanks(out, ranking.unit, ranking.ranks); err != nil {
				return err
			}
		}
	}
	return nil
}

func printRanks(out io.Writer, unit string, ranks []monotable.KeyRank) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\t±\t  KEY\n", unit)
	for _, r := range ranks {
		below := ""
		if r.Error > 0 {
			below = strconv.FormatFloat(r.Error, 'f', -1, 64)
		}
		texts := make([]string, len(r.Key))
		for i, v := range r.Key {
			texts[i] = v.Value
			if v.Type == "S" {
				texts[i] = strconv.Quote(v.Value)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t  %s\n", strconv.FormatFloat(r.Amount, 'f', -1, 64), below, strings.Join(texts, ", "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}
