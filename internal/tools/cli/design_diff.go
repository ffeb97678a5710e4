package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/diff"
)

func newDiff(env Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show the changes between two designs and what each requires",
		Long: `Compare two designs and classify every change:

  free         existing data does not change
  setting      a setting of the table
  index build  DynamoDB builds an index while serving requests
  backfill     items are rewritten with additional attributes
  rewrite      items move to other keys
  breaking     programs or data of the old design are incompatible with the new one

and show how many items it affects and what writing them costs. The exit status is 1 if a change is breaking.`,
		Example: `  git show main:shop.design.yaml > old.yaml && monotable diff old.yaml shop.design.yaml
  monotable diff old.yaml new.yaml --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var designs [2]*design.Design
			for i, name := range args {
				var err error
				if designs[i], err = design.Load(name); err != nil {
					return designError(env, err)
				}
			}
			changes := diff.Designs(designs[0], designs[1])
			if err := printChanges(env.Stdout, asJSON, changes); err != nil {
				return err
			}
			if diff.Breaks(changes) {
				return errReported
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printChanges(w io.Writer, asJSON bool, changes []diff.Change) error {
	if asJSON {
		if changes == nil {
			changes = []diff.Change{}
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(changes)
	}
	if len(changes) == 0 {
		_, err := fmt.Fprintln(w, "no change")
		return err
	}
	for _, c := range changes {
		line := fmt.Sprintf("%-11s  %s: %s", c.Class, c.Subject, c.Message)
		if c.WriteUnits > 0 {
			price := fmt.Sprintf("$%.2f", c.Cost)
			if c.Cost == 0 {
				price = "no known price"
			}
			line += fmt.Sprintf(" (%.0f items, %.0f write units, %s)", c.Items, c.WriteUnits, price)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
