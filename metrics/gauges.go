package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"confined/internal/ns"
)

// gauges are read from their sources at each scrape: one listing of the root,
// so that the slots of one scrape add up.
type gauges struct {
	from                       Sources
	reasons                    []string
	slots, limit, queue, ready *prometheus.Desc
}

func newGauges(from Sources, reasons []string) gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("confined_"+name, help, labels, nil)
	}
	return gauges{
		from:    from,
		reasons: reasons,
		slots:   desc("slots", "Slots, and other entries of the root, by what they are now.", "state"),
		limit:   desc("slots_limit", "Entries of the root at which no run starts any more."),
		queue:   desc("queue", "Runs that wait for a worker."),
		ready:   desc("ready", "0 while this reason keeps runs from starting, else 1: min(confined_ready) is 1 when ready.", "reason"),
	}
}

func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.slots, g.limit, g.queue, g.ready} {
		to <- d
	}
}

func (g gauges) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	gauge(g.queue, g.from.Queue())
	holds := g.from.NotReady()
	for _, reason := range g.reasons {
		value := 1
		if slices.Contains(holds, reason) {
			value = 0
		}
		gauge(g.ready, value, reason)
	}
	listing, err := g.from.Slots()
	if err != nil {
		to <- prometheus.NewInvalidMetric(g.slots, err)
		return
	}
	gauge(g.limit, listing.MaxRetained)
	counts := make(map[ns.SlotState]int)
	for _, slot := range listing.Slots {
		counts[slot.State]++
	}
	for _, state := range ns.SlotStates() {
		gauge(g.slots, counts[state], string(state))
	}
}
