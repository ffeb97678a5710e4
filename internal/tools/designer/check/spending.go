package check

import (
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

const (
	// secondsPerMonth uses a month of 30 days, like AWS's examples.
	secondsPerMonth = 30 * 24 * 3600
	// largeShare is the share of the budget from which a pattern's cost is reported.
	largeShare = 0.1
)

// spending checks the rules on cost, ST8xx, for designs with a budget. For other designs, monotable cost shows what each
// pattern costs.
func (c *checker) spending() {
	budget := c.design.Workload.Budget
	if budget == 0 {
		return
	}
	prices, err := cost.PricesOf(c.design.Workload.Region)
	if err != nil {
		c.find("ST802", c.design.Name, c.design.Workload.Pos, "has a budget of $%.2f that is not checked: %v", budget, err).report()
		return
	}
	total := 0.0
	add := func(name string, at design.Pos, units, rate, price float64) {
		dollars := units * rate * secondsPerMonth * price / 1e6
		total += dollars
		if dollars >= largeShare*budget {
			c.find("ST801", name, at, "costs $%.2f a month of a budget of $%.2f: %g calls a second, %g units each", dollars, budget, rate, units).report()
		}
	}
	for _, r := range c.design.Reads {
		add(r.Name, r.Pos, cost.OfRead(c.design, plan.ForRead(c.design, r)).Units, r.Rate, prices.OnDemandRead)
	}
	for _, x := range c.design.Collections {
		if p := plan.ForCollection(c.design, x); len(p.Members) > 0 {
			add(x.Name, x.Pos, cost.OfCollection(c.design, p).Units, x.Rate, prices.OnDemandRead)
		}
	}
	for _, w := range c.design.Writes {
		add(w.Name, w.Pos, cost.OfWrite(plan.ForWrite(c.design, w)).Units(), w.Rate, prices.OnDemandWrite)
	}
	if total > budget {
		c.find("ST802", c.design.Name, c.design.Workload.Pos, "costs $%.2f a month on demand, and the budget is $%.2f", total, budget).
			fix("see ST801 for the patterns that cost most").report()
	}
}
