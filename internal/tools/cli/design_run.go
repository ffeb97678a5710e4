package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

type testFlags struct {
	run                       string
	seed                      uint64
	items                     int
	asJSON, verbose, progress bool
}

func newTest(env Environment) *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Test a design's patterns against a reference",
		Long: `Run every read, collection and write of a design, as the generated code would, on an in-memory database, and compare
the results with a naive evaluation of the design: the right items, in the right order, at every page size and limit,
with the right fields; after each write, the right copies, markers, counters and index attributes; and the consumed
capacity as estimated.

The items are the design's samples, and generated items that are easily confused: values that are prefixes of others,
differ only in case or accents, or contain separators, numbers with different numbers of digits, equal times. The same
--seed generates the same items and calls. The design's examples are checked with the samples only.

A deviation that monotable check predicts and the design accepts, such as an order that a key does not have (ST105),
is not a failure: it is listed with the reason. Failures are reduced to the fewest items that show them. The exit
status is 1 if there are failures, or if nothing was exercised: a design without patterns, or a pattern for which no
call could be generated, does not pass.

Columns: calls compared, requests sent, capacity units consumed per call on average, the cost model's estimate for the
same calls, and its estimate for the volumes that the design declares.`,
		Example: `  monotable test shop.design.yaml
  monotable test shop.design.yaml --run '^Orders' -v
  monotable test shop.design.yaml --seed 7 --items 1000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTest(cmd.Context(), env, &flags, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.run, "run", "", "run only patterns whose name matches this regular expression")
	f.Uint64Var(&flags.seed, "seed", 1, "random seed for the items and calls")
	f.IntVar(&flags.items, "items", trial.ItemsDefault, "approximate number of items per entity")
	f.BoolVar(&flags.asJSON, "json", false, "print JSON")
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "also show entities and notes")
	progressFlag(cmd, &flags.progress)
	return cmd
}

func runTest(ctx context.Context, env Environment, flags *testFlags, file string) error {
	chosen, err := regexp.Compile(flags.run)
	if err != nil {
		return fmt.Errorf("--run %q is not a regular expression: %w", flags.run, err)
	}
	if flags.items < 1 {
		return errors.New("--items must be at least 1")
	}
	d, err := design.Load(file)
	if err != nil {
		return designError(env, err)
	}
	t, err := trial.New(d, trial.Options{Seed: flags.seed, Items: flags.items})
	if err != nil {
		return designError(env, err)
	}
	r := testRun{env: env, flags: flags, file: file, trial: t, start: time.Now()}
	return errors.Join(r.all(ctx, chosen), t.Close())
}

// testRun is one run of the command.
type testRun struct {
	env   Environment
	flags *testFlags
	file  string
	trial *trial.Trial
	start time.Time

	results       []*trial.Result
	cases, failed int
}

// all tries what the expression matches, and tells each result as soon as it is there.
func (r *testRun) all(ctx context.Context, chosen *regexp.Regexp) error {
	var subjects []trial.Subject
	patterns := 0
	for _, s := range r.trial.Subjects() {
		if s.Kind != trial.EntitySubject {
			patterns++
		}
		if chosen.MatchString(s.Name) {
			subjects = append(subjects, s)
		}
	}
	switch {
	case patterns == 0 && r.flags.run == "":
		return fmt.Errorf("%s: not exercised: the design has no reads, collections or writes", r.file)
	case len(subjects) == 0:
		return fmt.Errorf("%s has no pattern that matches --run %q", r.file, r.flags.run)
	}
	if !r.flags.asJSON {
		if err := trial.WriteHead(r.env.Stdout); err != nil {
			return err
		}
	}
	bar := newProgress(r.env, "test", unitThings, r.flags.progress)
	defer bar.end()
	for i, s := range subjects {
		bar.update(int64(i), int64(len(subjects)))
		result, err := r.trial.Try(ctx, s)
		if err != nil {
			return err
		}
		r.results = append(r.results, result)
		r.cases += result.Cases
		if !result.OK() {
			r.failed++
		}
		bar.clear()
		if err := r.print(result); err != nil {
			return err
		}
	}
	bar.end()
	return r.end()
}

// print prints a result: entities only where they failed or everything is wanted.
func (r *testRun) print(result *trial.Result) error {
	if r.flags.asJSON || result.OK() && result.Kind == trial.EntitySubject && !r.flags.verbose {
		return nil
	}
	if err := result.WriteLine(r.env.Stdout); err != nil {
		return err
	}
	for i := range result.Failures {
		fmt.Fprintf(r.env.Stdout, "  %s\n", result.Failures[i].String())
	}
	for _, a := range result.Accepted {
		fmt.Fprintf(r.env.Stdout, "  accepted: %s (%s: %s)\n", a.Kind, a.Rule, a.Reason)
	}
	if more := result.Failed - len(result.Failures); more > 0 {
		fmt.Fprintf(r.env.Stdout, "  and %d more failing cases\n", more)
	}
	if result.Note != "" && r.flags.verbose {
		fmt.Fprintf(r.env.Stdout, "  note: %s\n", result.Note)
	}
	return nil
}

// end prints the verdict, which is errReported where something failed.
func (r *testRun) end() error {
	took := time.Since(r.start).Round(10 * time.Millisecond)
	if r.flags.asJSON {
		encoder := json.NewEncoder(r.env.Stdout)
		encoder.SetIndent("", "  ")
		err := encoder.Encode(struct {
			File    string          `json:"file"`
			Seed    uint64          `json:"seed"`
			Items   int             `json:"items"`
			Seconds float64         `json:"seconds"`
			OK      bool            `json:"ok"`
			Results []*trial.Result `json:"results"`
		}{r.file, r.flags.seed, r.flags.items, took.Seconds(), r.failed == 0, r.results})
		if err != nil {
			return err
		}
	}
	switch {
	case r.failed == 0 && r.flags.asJSON:
		return nil
	case r.failed == 0:
		_, err := fmt.Fprintf(r.env.Stdout, "ok    %s: %s in %v\n", r.file, plural.Of(r.cases, "case"), took)
		return err
	case !r.flags.asJSON:
		fmt.Fprintf(r.env.Stdout, "FAIL  %s: %d of %d failed, in %v; reproduce with: %s test %s --seed %d --items %d\n",
			r.file, r.failed, len(r.results), took, r.env.Program, r.file, r.flags.seed, r.flags.items)
	}
	return errReported
}
