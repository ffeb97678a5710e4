package cli

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/races"
)

func newRaces(env Environment) *cobra.Command {
	var (
		asJSON, asked bool
		options       races.Options
	)
	cmd := &cobra.Command{
		Use:   "races FILE [RACE...]",
		Short: "Run a design's writes in every order",
		Long: `Run the requests of a design's writes and flows in every order, with crashes between them, lost answers, stale
reads and expired items where a race asks for them, and find an order after which an invariant does not hold.
What is printed is a shortest one: who makes which request, what it is answered with, and the items that are
concerned then. The database that executes the requests is monotable itself, in memory.

A design says what may run at once, and what must hold:

  races:
    TwoVoters:
      start: [{ write: OpenRoom, given: { roomId: r, hostId: ana } }, { write: Join, given: { roomId: r, userId: bob } }]
      run: [{ flow: Vote, given: { roomId: r, userId: ana } }, { flow: Vote, given: { roomId: r, userId: bob } }]
      crash: true
  invariants:
    OneMatch: "count(Match of room) <= 1"

A design without races is tried with its writes: each twice at once, and each pair that touches an entity in
common. That copies, markers and counters are right is looked at in any case.

The exit status is 1 when something does not hold and is not accepted, at a write that leads there, as ST513,
and when no race could be run. When a bound was reached before all orders were looked at, that is said.`,
		Example: `  monotable races shop.design.yaml
  monotable races shop.design.yaml TwoBuyers --states 2000000
  monotable races shop.design.yaml --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.Depth < 0 || options.States < 0 {
				return errors.New("--depth and --states must be at least 0")
			}
			d, err := design.Load(args[0])
			if err != nil {
				return designError(env, err)
			}
			options.Races = args[1:]
			var bar *progress
			of := ""
			options.Progress = func(race string, states, bound int) {
				if race != of {
					bar.end()
					bar, of = newProgress(env, "races "+race, unitThings, asked), race
				}
				bar.update(int64(states), int64(bound))
			}
			report, err := races.Run(cmd.Context(), d, options)
			bar.end()
			if err != nil {
				return designError(env, err)
			}
			if err := writeRaces(env, report, asJSON); err != nil {
				return err
			}
			if report.Failed() {
				return errReported
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.IntVar(&options.Depth, "depth", 0, "the most requests, crashes and removals in an order; 0 is what the race says, or 100")
	f.IntVar(&options.States, "states", 0, "the most states of a race; 0 is what the race says, or 500,000")
	progressFlag(cmd, &asked)
	return cmd
}

func writeRaces(env Environment, report *races.Report, asJSON bool) error {
	if !asJSON {
		return report.WriteText(env.Stdout)
	}
	encoder := json.NewEncoder(env.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}
