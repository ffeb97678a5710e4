package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/workbench"
)

type provisionFlags struct {
	as, endpoint, region, variable, functions, output string

	apply bool
	set   []string
}

func newProvision(env Environment) *cobra.Command {
	var flags provisionFlags
	cmd := &cobra.Command{
		Use:   "provision FILE",
		Short: "Write the definitions of a design's tables, or create the tables",
		Long: `Write the definitions of a design's tables: a CreateTable request (or one file per request with -o DIR), a
CloudFormation or SAM template, Terraform, an IAM policy for each pattern or for each function of --functions, or a
NoSQL Workbench data model with a facet for each entity and its samples, or generated items.

A policy allows what the generated code of a pattern does, on the table or index that it uses, and limits it with
dynamodb:LeadingKeys to the partition keys of its templates: the tenant's keys if a key starts with the tenant, and *
for every other field.

With --apply, create the tables at an endpoint, or update them as far as that is safe: missing indexes are added one
at a time, TTL and streams are turned on, nothing is removed, and changes that are not possible in place are errors.`,
		Example: `  monotable provision shop.design.yaml --as cloudformation > tables.json
  monotable provision shop.design.yaml --as createtable -o requests
  monotable provision shop.design.yaml --as iam --functions functions.json    # {"checkout": ["Cart", "PlaceOrder"], …}
  monotable provision shop.design.yaml --as workbench > shop.model.json
  monotable provision shop.design.yaml --apply --endpoint http://127.0.0.1:8000 --set stage=dev`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := design.Load(args[0])
			if err != nil {
				return designError(env, err)
			}
			values, err := placeholderValues(flags.set)
			if err != nil {
				return err
			}
			named := func(text string) bool {
				return slices.ContainsFunc(d.Tables, func(t *design.Table) bool { return strings.Contains(t.Physical, text) })
			}
			for name := range values {
				if named("{") && !named("{"+name+"}") { // a script may pass the stage for all designs, including those without one
					return fmt.Errorf("--set %s: no table name contains {%s}", name, name)
				}
			}
			specs := provision.Specs(d, values)
			if flags.apply {
				return applyTables(cmd.Context(), env, &flags, specs)
			}
			return writeTables(env, &flags, d, specs)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.as, "as", "createtable", "createtable, cloudformation, sam, terraform, iam or workbench")
	f.StringVarP(&flags.output, "output", "o", "", "directory for one file per request, with createtable")
	f.BoolVar(&flags.apply, "apply", false, "create or update the tables at --endpoint")
	f.StringVar(&flags.endpoint, "endpoint", "", "where to --apply, a URL or aws; default: "+endpointDefaults)
	f.StringVar(&flags.region, "region", "", "region to --apply in; default: "+regionDefaults)
	f.StringVar(&flags.variable, "tenant-variable", "", "policy variable with the tenant, for iam; default ${aws:PrincipalTag/TENANT}")
	f.StringVar(&flags.functions, "functions", "", "for iam: JSON file with the patterns of each function, to write one policy per function instead of per pattern")
	f.StringArrayVar(&flags.set, "set", nil, "value of a placeholder in table names, such as stage=dev")
	return cmd
}

func placeholderValues(list []string) (map[string]string, error) {
	values := map[string]string{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--set %q: want NAME=VALUE", s)
		}
		values[name] = value
	}
	return values, nil
}

func writeTables(env Environment, flags *provisionFlags, d *design.Design, specs []provision.Spec) error {
	if flags.functions != "" && flags.as != "iam" {
		return fmt.Errorf("--functions is for --as iam")
	}
	if flags.output != "" && flags.as != "createtable" {
		return fmt.Errorf("-o is for --as createtable: %s is written to standard output", flags.as)
	}
	switch flags.as {
	case "createtable":
		return writeRequests(env, flags.output, specs)
	case "cloudformation", "sam":
		return provision.WriteCloudFormation(env.Stdout, d.Name, specs, flags.as == "sam")
	case "terraform":
		return provision.WriteTerraform(env.Stdout, specs)
	case "iam":
		iam := provision.IAM{Specs: specs, Variable: cmp.Or(flags.variable, "${aws:PrincipalTag/"+d.Tenant+"}")}
		if flags.functions != "" {
			text, err := os.ReadFile(flags.functions)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(text, &iam.Functions); err != nil {
				return fmt.Errorf("--functions %s: want a JSON object of functions with lists of patterns: %w", flags.functions, err)
			}
			if iam.Functions == nil {
				return fmt.Errorf("--functions %s: want a JSON object of functions with lists of patterns", flags.functions)
			}
		}
		return provision.WriteIAM(env.Stdout, d, iam)
	case "workbench":
		return writeWorkbench(env, d, specs)
	default:
		return fmt.Errorf("--as %q: want createtable, cloudformation, sam, terraform, iam or workbench", flags.as)
	}
}

// writeWorkbench writes a data model for NoSQL Workbench, and prints on standard error what the format cannot
// express.
func writeWorkbench(env Environment, d *design.Design, specs []provision.Spec) error {
	model, left, err := workbench.Of(d, specs, time.Now())
	if err != nil {
		return err
	}
	for _, one := range left {
		fmt.Fprintf(env.Stderr, "not exported: %s\n", one)
	}
	encoder := json.NewEncoder(env.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(model)
}

// writeRequests writes the CreateTable request of the only table, or a file per request: TABLE.json, and
// TABLE.ttl.json if items expire.
func writeRequests(env Environment, directory string, specs []provision.Spec) error {
	if directory == "" {
		if len(specs) != 1 {
			return fmt.Errorf("the design has %d tables, and the AWS CLI takes one request at a time: write one file per request with -o DIR", len(specs))
		}
		if s := specs[0]; s.TTLAttr != "" {
			fmt.Fprintf(env.Stderr, "items of %s expire by %s, which takes a second request: -o DIR writes both\n", s.Name, s.TTLAttr)
		}
		return provision.WriteCreateTable(env.Stdout, &specs[0])
	}
	if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // requests hold no secrets
		return err
	}
	for i := range specs {
		s := &specs[i]
		name := filepath.Join(directory, s.Name)
		if err := writeRequest(name+".json", s, provision.WriteCreateTable); err != nil {
			return err
		}
		if s.TTLAttr != "" {
			if err := writeRequest(name+".ttl.json", s, provision.WriteTimeToLive); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeRequest(file string, s *provision.Spec, write func(io.Writer, *provision.Spec) error) error {
	var body bytes.Buffer
	if err := write(&body, s); err != nil {
		return err
	}
	return os.WriteFile(file, body.Bytes(), 0o644) //nolint:gosec // requests hold no secrets
}

func applyTables(ctx context.Context, env Environment, flags *provisionFlags, specs []provision.Spec) error {
	client, err := databaseClient(ctx, env, flags.endpoint, flags.region)
	if err != nil {
		return err
	}
	return provision.Apply(ctx, client, specs, func(format string, args ...any) {
		fmt.Fprintf(env.Stdout, format+"\n", args...)
	})
}
