package cli

import (
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
)

func newResolve(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve FILE",
		Short: "Print a design in the interchange form, for other programs",
		Long: `Print a design as JSON: the versioned interchange form, with all defaults filled in. Equal designs have equal
JSON, and the commands that read a design read this form too, from a file whose name ends in .json.`,
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
	cmd.Flags().Bool("json", true, "print JSON, the only form there is")
	return cmd
}

func newSchema(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of designs, for editors",
		Long: `Print the JSON Schema of a design's YAML. Editors complete and explain keys with it; with the YAML language server,
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
