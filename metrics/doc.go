// Package metrics counts what runs and requests come to, for Prometheus.
//
// A [Set] listens on the same seams as everything else that watches: an
// exec.Trace for runs, three methods for the HTTP side, and [Sources] that are
// read at each scrape. It never steers a run. Every label value is an enum of
// the HTTP contract, so that the number of series is fixed: there are no ids,
// no paths, no digests and nothing a program wrote.
package metrics
