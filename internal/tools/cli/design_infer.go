package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/infer"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

type inferFlags struct {
	sourceFlags
	tables               []string
	key, workbench, name string
	models               map[infer.Mapper]*string
	output               string
	sample               int
	json                 bool
}

// defaultSample is the default number of items to read: some hundreds of each of some tens of kinds.
const defaultSample = 20000

func newInfer(env Environment) *cobra.Command {
	var flags inferFlags
	cmd := &cobra.Command{
		Use:   "infer",
		Short: "Draft a design from an existing table or model",
		Long: `Draft a design from a table at an endpoint, an export to S3, or a NoSQL Workbench model: entities, recognised by a
type attribute and by key prefixes, the templates of their keys and index keys, fields and types, copies, uniqueness
markers, volumes, and the reads that the keys can serve.

Or import the model of an object mapper (ElectroDB, OneTable or dynamodb-toolbox), whose keys the design then
reproduces exactly. The file is the module that exports the entities, the service or the table. It runs in Node.js 20
or newer (22.18 for TypeScript), with the library installed next to it, and sends no requests. An ElectroDB model or a
OneTable schema can also be a .json file, which does not need Node.js. Features that a design cannot express become
"not imported" comments, and are listed on standard error.

Comments in the draft say in how many items each part was found, and what is a guess. Review the draft with
"monotable check", and compare all items with it using "monotable conform".

Only a random sample of a large table is read; --sample 0 reads everything. An export does not include the table's
key: it is guessed unless --key is given. Indexes are guessed from attribute names (GSI1PK, GSI1SK).`,
		Example: `  monotable infer --endpoint http://127.0.0.1:8000 --table shop -o shop.design.yaml
  monotable infer --export ./AWSDynamoDB/01693685827463-2d8752fd --key PK,SK
  monotable infer --workbench model.json -o shop.design.yaml
  monotable infer --electrodb src/entities.js -o shop.design.yaml
  monotable infer --onetable schema.json -o shop.design.yaml
  monotable infer --toolbox src/entities.ts -o shop.design.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := vacant(flags.output); err != nil {
				return err
			}
			text, err := flags.draft(cmd.Context(), env)
			if err != nil {
				return err
			}
			if flags.json {
				if text, err = interchange(text); err != nil {
					return err
				}
			}
			if flags.output != "" {
				return os.WriteFile(flags.output, text, 0o644) //nolint:gosec // a text that others may read
			}
			_, err = env.Stdout.Write(text)
			return err
		},
	}
	f := cmd.Flags()
	flags.register(f)
	f.StringArrayVar(&flags.tables, "table", nil, "a table at --endpoint; may be repeated")
	f.StringArrayVar(&flags.exports, "export", nil, "directory of an export of a table to S3; may be repeated")
	f.StringVar(&flags.key, "key", "", "the key of an exported table, such as PK,SK")
	f.StringVar(&flags.workbench, "workbench", "", "a NoSQL Workbench model, as JSON")
	flags.models = map[infer.Mapper]*string{
		infer.ElectroDB: f.String("electrodb", "", "a module with ElectroDB entities or services, or a model as .json"),
		infer.OneTable:  f.String("onetable", "", "a module with a OneTable table or schema, or a schema as .json"),
		infer.Toolbox:   f.String("toolbox", "", "a module with dynamodb-toolbox entities, version 2"),
	}
	f.IntVar(&flags.sample, "sample", defaultSample, "number of items to read from each table; 0 for all")
	f.StringVar(&flags.name, "name", "", "the design's name; default: the table's")
	f.BoolVar(&flags.json, "json", false, "write the design as JSON, without the comments")
	f.StringVarP(&flags.output, "output", "o", "", "the file to write; default: standard output")
	progressFlag(cmd, &flags.progress)
	excludeFlags(cmd.Flags(), "", "table", "export", "workbench", "electrodb", "onetable", "toolbox")
	return cmd
}

// vacant rejects the output if it is a file with content: a draft is edited by hand, and another one would replace that work.
func vacant(output string) error {
	if info, err := os.Stat(output); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return fmt.Errorf("--output %s exists already and is not overwritten: move it, or write to another file", output)
	}
	return nil
}

// draft drafts the design.
func (flags *inferFlags) draft(ctx context.Context, env Environment) ([]byte, error) {
	for _, of := range []infer.Mapper{infer.ElectroDB, infer.OneTable, infer.Toolbox} {
		if file := *flags.models[of]; file != "" {
			return flags.translate(ctx, env, of, file)
		}
	}
	in, err := flags.input(ctx, env)
	if err != nil {
		return nil, err
	}
	if flags.name != "" {
		in.Name = flags.name
	}
	return infer.Draft(in)
}

// translate imports the model of an object mapper and prints on standard error what is left out.
func (flags *inferFlags) translate(ctx context.Context, env Environment, of infer.Mapper, file string) ([]byte, error) {
	model, err := infer.Load(ctx, of, file, env.Stderr)
	if err != nil {
		return nil, err
	}
	out, err := infer.Translate(of, flags.name, model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, left := range out.Left {
		fmt.Fprintf(env.Stderr, "not imported: %s\n", left)
	}
	return out.Text, nil
}

// interchange converts a draft to the interchange form.
func interchange(draft []byte) ([]byte, error) {
	d, err := design.Parse("draft", draft)
	if err != nil {
		return nil, err
	}
	return d.JSON()
}

// input reads the input of a draft.
func (flags *inferFlags) input(ctx context.Context, env Environment) (infer.Input, error) {
	if flags.sample < 0 {
		return infer.Input{}, errors.New("--sample: want a number of at least 0")
	}
	if flags.key != "" && len(flags.exports) == 0 {
		return infer.Input{}, errors.New("--key is for --export: tables and models include their keys")
	}
	if flags.workbench != "" {
		data, err := os.ReadFile(flags.workbench)
		if err != nil {
			return infer.Input{}, err
		}
		in, err := infer.ParseWorkbench(data)
		if err != nil {
			return infer.Input{}, fmt.Errorf("%s: %w", flags.workbench, err)
		}
		return in, nil
	}
	var in infer.Input
	for _, name := range flags.tables {
		t, err := flags.table(ctx, env, name)
		if err != nil {
			return infer.Input{}, err
		}
		in.Tables = append(in.Tables, t)
	}
	for _, dir := range flags.exports {
		t, err := flags.export(ctx, env, dir)
		if err != nil {
			return infer.Input{}, err
		}
		in.Tables = append(in.Tables, t)
	}
	if len(in.Tables) == 0 {
		return infer.Input{}, errSource
	}
	return in, nil
}

func (flags *inferFlags) table(ctx context.Context, env Environment, name string) (infer.Table, error) {
	s, err := flags.openTable(ctx, env, name)
	if err != nil {
		return infer.Table{}, err
	}
	out := infer.Describe(s.Description, s.TTLAttr)
	out.Items, err = flags.sampleOf(ctx, env, s)
	return out, err
}

func (flags *inferFlags) export(ctx context.Context, env Environment, dir string) (infer.Table, error) {
	s, err := source.OpenExport(dir)
	if err != nil {
		return infer.Table{}, err
	}
	items, err := flags.sampleOf(ctx, env, s)
	if err != nil {
		return infer.Table{}, err
	}
	out := infer.Table{Name: s.Table, Items: items, Total: s.Count(), Guessed: true, GuessedKey: flags.key == ""}
	if out.Name == "" {
		out.Name = "Table"
	}
	if flags.key != "" {
		if out.PK, out.SK, err = infer.ParseKeys(flags.key, items); err != nil {
			return infer.Table{}, fmt.Errorf("--key %q: %w", flags.key, err)
		}
	} else if out.PK, out.SK, err = infer.GuessKeys(items); err != nil {
		return infer.Table{}, err
	}
	out.Indexes, out.TTLAttr = infer.GuessIndexes(items), infer.GuessTTL(items)
	for i := range out.Indexes {
		if out.Indexes[i].Local {
			out.Indexes[i].PK = []infer.Key{out.PK}
		}
	}
	return out, nil
}

// sampleOf reads a sample of a source, or all of it.
func (flags *inferFlags) sampleOf(ctx context.Context, env Environment, s source.Source) ([]source.Item, error) {
	if flags.sample == 0 {
		return flags.read(env, "infer", s.Items(ctx), s.Count())
	}
	return flags.read(env, "infer", s.Sample(ctx, flags.sample), min(int64(flags.sample), s.Count()))
}
