package cli

import (
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
)

func newResolve(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve FILE",
		Short: "Print a design in the JSON interchange format",
		Long: `Print a design in the versioned JSON interchange format, with all defaults filled in. Equal designs have equal JSON.
All commands that read a design also accept this format, from files ending in .json.`,
		Example: `  monotable resolve shop.design.yaml > shop.json
  monotable resolve shop.design.yaml | jq '.entities[].key'`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := design.Load(args[0])
			if err != nil {
				return designError(env, err)
			}
			form, err := d.JSON()
			if err != nil {
				return err
			}
			_, err = env.Stdout.Write(form)
			return err
		},
	}
	cmd.Flags().Bool("json", true, "print JSON (the only format)")
	return cmd
}

func newSchema(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of designs, for editors",
		Long: `Print the JSON Schema of designs in YAML. Editors use it to complete and explain keys; with the YAML language server,
put this line at the top of a design:

  # yaml-language-server: $schema=design.schema.json`,
		Example: "  monotable schema > design.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := env.Stdout.Write(design.Schema())
			return err
		},
	}
}
