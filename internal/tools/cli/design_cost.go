package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
)

func newCost(env Environment) *cobra.Command {
	var base, prices string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cost FILE",
		Short: "Estimate the monthly cost of a design",
		Long: `Estimate the monthly cost of a design's patterns from its declared rates and volumes: read and write request units per
call, the share of index entries in writes, the on-demand price, storage, and the price of the same load in
provisioned mode. Prices are AWS's list prices for the region. Patterns without a rate cost nothing.

For other regions or newer prices, use --prices FILE: AWS's own price list, for one region or all, or a file with the
figures of the pricing page (docs/provision.md).

With --base, show the difference from another design, for example what a pull request makes cheaper or more expensive.`,
		Example: `  monotable cost shop.design.yaml
  monotable cost shop.design.yaml --base main.design.yaml
  curl -O https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/index.json
  monotable cost shop.design.yaml --prices index.json
  monotable cost shop.design.yaml --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			month, err := monthOf(env, args[0], prices)
			if err != nil {
				return err
			}
			if base == "" {
				return printCost(env.Stdout, asJSON, month)
			}
			before, err := monthOf(env, base, prices)
			if err != nil {
				return err
			}
			return printCostChange(env.Stdout, asJSON, before, month)
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "show the difference from this design")
	cmd.Flags().StringVar(&prices, "prices", "", "JSON file with prices, such as AWS's own price list, instead of the built-in ones")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func monthOf(env Environment, file, list string) (cost.Month, error) {
	d, err := design.Load(file)
	if err != nil {
		return cost.Month{}, designError(env, err)
	}
	prices, err := pricesFor(d.Workload.Region, list)
	if err != nil {
		return cost.Month{}, err
	}
	return cost.OfMonth(d, prices), nil
}

// pricesFor are the prices in the file, which must be for the design's region if it names one; without a file,
// the built-in prices.
func pricesFor(region, file string) (cost.Prices, error) {
	if file == "" {
		return cost.PricesOf(region)
	}
	return cost.ReadPrices(file, region)
}

func printCost(w io.Writer, asJSON bool, m cost.Month) error {
	if asJSON {
		return json.NewEncoder(w).Encode(m)
	}
	fmt.Fprintf(w, "%s, %s, prices of %s, a month of 30 days\n\n", m.Design, m.Region, m.Since)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "pattern\tunits\tof indexes\ta second\ton demand\t")
	for _, p := range m.Patterns {
		fmt.Fprintf(table, "%s\t%g %s\t%s\t%g\t$%.2f\t\n", p.Name, p.Units, unitOf(p), optional(p.IndexUnits), p.Rate, p.Cost)
	}
	fmt.Fprintf(table, "requests\t\t\t\t$%.2f\t\n", m.OnDemand)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	table = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "stored\titems\tMB\ta month\t")
	for _, s := range m.Storage {
		fmt.Fprintf(table, "%s\t%.0f\t%.1f\t$%.2f\t\n", s.Place, s.Items, s.Bytes/(1<<20), s.Cost)
	}
	fmt.Fprintf(table, "storage, less the free tier\t\t\t$%.2f\t\n", m.StorageCost)
	if err := table.Flush(); err != nil {
		return err
	}
	p := m.Provisioned
	advice := "; no pattern has a rate, so the modes cannot be compared"
	switch {
	case p.BreakEven >= 1:
		advice = ", which is never cheaper"
	case m.OnDemand > 0:
		advice = fmt.Sprintf(", which is cheaper if the load lasts for more than %.0f %% of the time", 100*p.BreakEven)
	}
	_, err := fmt.Fprintf(w, "\ntotal on demand $%.2f; provisioned %.0f read and %.0f write capacity units at 70 %% use $%.2f%s\n",
		m.Total, p.ReadCapacity, p.WriteCapacity, p.Cost, advice)
	return err
}

func unitOf(p cost.Pattern) string {
	if p.Kind == "write" {
		return "WRU"
	}
	return "RRU"
}

// optional formats a number, omitting zero.
func optional(n float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%g", n)
}

func printCostChange(w io.Writer, asJSON bool, before, after cost.Month) error {
	changes := cost.Differences(before, after)
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			Before  float64       `json:"before"`
			After   float64       `json:"after"`
			Changes []cost.Change `json:"changes"`
		}{before.Total, after.Total, changes})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "pattern\tunits before\tafter\t$ before\tafter\t")
	for _, c := range changes {
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f\t%.2f\t\n", c.Name, optional(c.Before.Units), optional(c.After.Units), c.Before.Cost, c.After.Cost)
	}
	fmt.Fprintf(table, "total\t\t\t%.2f\t%.2f\t\n", before.Total, after.Total)
	return table.Flush()
}
