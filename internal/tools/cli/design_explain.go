package cli

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/explain"
)

func newExplain(env Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain FILE [PATTERN...]",
		Short: "Show the request that each pattern of a design becomes",
		Long: `Show how DynamoDB serves the patterns of a design. For each read and collection: the request (operation, index, key
condition, filter, direction), its cost, its consistency, and alternative places with what they lack. For each write:
the items and index entries that it writes, and their cost. At the end: which items belong to a person, and what
erasure does to them.`,
		Example: `  monotable explain shop.design.yaml
  monotable explain shop.design.yaml UserOrders PlaceOrder
  monotable explain shop.design.yaml --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := design.Load(args[0])
			if err != nil {
				return designError(env, err)
			}
			patterns, err := chosenPatterns(d, args[1:])
			if err != nil {
				return err
			}
			if asJSON {
				encoder := json.NewEncoder(env.Stdout)
				encoder.SetIndent("", "  ")
				return encoder.Encode(patterns)
			}
			for _, p := range patterns {
				if err := explain.WriteText(env.Stdout, p); err != nil {
					return err
				}
			}
			if len(args) > 1 {
				return nil
			}
			return explain.WritePersons(env.Stdout, d)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// chosenPatterns explains the patterns with these names, or all.
func chosenPatterns(d *design.Design, names []string) ([]explain.Pattern, error) {
	all := explain.All(d)
	if len(names) == 0 {
		return all, nil
	}
	var chosen []explain.Pattern
	for _, name := range names {
		i := slices.IndexFunc(all, func(p explain.Pattern) bool { return p.Name == name })
		if i < 0 {
			known := make([]string, len(all))
			for i, p := range all {
				known[i] = p.Name
			}
			return nil, fmt.Errorf("%s has no read, collection or write %q; it has %s", d.Name, name, words(known))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
