package check

import (
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

const (
	// secondsPerMonth is of a month of 30 days, as AWS's own examples reckon.
	secondsPerMonth = 30 * 24 * 3600
	// largeShare is the part of the budget from which what one pattern costs is told.
	largeShare = 0.1
)

// spending are the rules on money, ST8xx, of designs that have a budget. What each pattern of others costs is monotable
// cost's to tell.
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
			c.find("ST801", name, at, "costs $%.2f of the $%.2f of a month: %g calls a second, units of each: %g", dollars, budget, rate, units).report()
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
			fix("the patterns that cost most are told as ST801").report()
	}
}
