package main

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// newMetricsServer serves /metrics and nothing else: counts of this daemon, for
// whoever is on this machine.
func newMetricsServer(metrics http.Handler, log *slog.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// listenMetrics listens on a loopback address; none when address is not valid.
func listenMetrics(address netip.AddrPort) (net.Listener, error) {
	if !address.IsValid() {
		return nil, nil
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(address))
	if err != nil {
		return nil, err
	}
	return exclusive(l)
}
