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
		asJSON, progressWanted bool
		options                races.Options
	)
	cmd := &cobra.Command{
		Use:   "races FILE [RACE...]",
		Short: "Run a design's concurrent writes in every order",
		Long: `Run the requests of concurrent writes and flows in every order, with crashes between requests, lost responses, stale
reads and expired items if a race asks for them, and find an order that breaks an invariant. The output is a shortest
such schedule: who sends which request, its response, and the affected items. The requests run on monotable itself, in
memory.

A design declares what may run concurrently, and what must hold:

  races:
    TwoVoters:
      start: [{ write: OpenRoom, given: { roomId: r, hostId: ana } }, { write: Join, given: { roomId: r, userId: bob } }]
      run: [{ flow: Vote, given: { roomId: r, userId: ana } }, { flow: Vote, given: { roomId: r, userId: bob } }]
      crash: true
  invariants:
    OneMatch: "count(Match of room) <= 1"

If a design declares no races, its writes are tried: two concurrent calls of each, and of each pair that writes the
same entity. Copies, markers and counters are always checked.

The exit status is 1 if an invariant is broken and the finding, ST513, is not accepted on a write that leads to it, or
if no race could be run. The output says when a limit was reached before all orders had been explored.`,
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
					bar, of = newProgress(env, "races "+race, unitThings, progressWanted), race
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
	f.IntVar(&options.Depth, "depth", 0, "maximum number of requests, crashes and removals in a schedule; 0: as declared by the race, or 100")
	f.IntVar(&options.States, "states", 0, "maximum number of states per race; 0: as declared by the race, or 500,000")
	progressFlag(cmd, &progressWanted)
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
