# Two commands are enough: `make demo` and `make test`. `make help` has the rest.

# Where git cannot tell the revision (a source archive, a clone of another
# user's), builds record none: go by itself would fail.
ifneq ($(shell git rev-parse HEAD >/dev/null 2>&1 && echo known),known)
export GOFLAGS := $(shell go env GOFLAGS 2>/dev/null) -buildvcs=false
endif

# More flags for go test, as in `make test TESTFLAGS=-v`.
TESTFLAGS ?=

.DELETE_ON_ERROR:
.PHONY: help demo test faults prove-all prove-new bench load soak build node tools generate check lint fmt vet clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 18

# On a Mac, Node is CONFINED_NODE, or the one in PATH.
ifeq ($(shell uname -s),Darwin)
demo_parts := build
else
demo_parts := node build
endif

demo: ## build, fetch Node (macOS: prove yours), run examples/hello on a daemon of its own, judge the result
	@packaging/need.sh host go node curl jq
	@$(MAKE) --no-print-directory $(demo_parts)
	@packaging/demo.sh

# The race detector sees one process. The tests of e2e drive others, and are
# compiled as `make build` compiles. Many of them wait, so more run at once than
# there are processors.
test: ## every test; those that test their own process with the race detector
	@packaging/need.sh linux go cc npm curl jq python3 dash
	@$(MAKE) --no-print-directory node tools
	dir="$$(packaging/fit-dir.sh test)" && export TMPDIR="$$dir" && \
	go test -race -shuffle=on $(TESTFLAGS) $$(go list ./... | grep -v '/e2e$$') && \
	CGO_ENABLED=0 go test -trimpath -shuffle=on -parallel=4 $(TESTFLAGS) ./e2e

# A version of Node, as in `make node NODE=24.1.0`. The environment has no say.
NODE :=

prove-all: ## the boundary suite with every Node of internal/pins/proven.txt
	@packaging/need.sh linux go cc npm setpriv
	@$(MAKE) --no-print-directory build
	@packaging/prove-all.sh

prove-new: ## the boundary suite with the official Node of version NODE, which is added to that table
	@packaging/need.sh linux go cc npm setpriv
	@packaging/prove-new.sh "$(NODE)"

# How often the fault table runs, as in `make faults ROUNDS=3`. Under make test
# it is once, or FAULT_ROUNDS times.
ROUNDS ?= 50

faults: ## the fault table, 50 times in a row with the race detector
	@packaging/need.sh linux go cc npm dash
	@$(MAKE) --no-print-directory node
	dir="$$(packaging/fit-dir.sh faults)" && \
	TMPDIR="$$dir" FAULT_ROUNDS=$(ROUNDS) go test -race -count=1 -timeout=4h -run='^(TestFaults|TestMoreRunsThanSlots)$$' $(TESTFLAGS) ./internal/exec

# How much is measured, as in `make bench BENCH=quick`: full, quick (what CI
# judges) or docs (full, into docs/performance.md).
BENCH ?= full

bench: ## confined programs against plain node, as ratios
	@packaging/need.sh linux go npm
	@$(MAKE) --no-print-directory node
	@packaging/bench.sh "$(BENCH)"

# How long the load lasts, as in `make load LOAD=30s`.
LOAD ?= 10m

load: ## mixed load at four times the capacity, with a SIGTERM in the middle, judged
	@packaging/need.sh linux go npm
	@$(MAKE) --no-print-directory node build
	@packaging/load.sh -for $(LOAD)

# How long the soak lasts, as in `make soak SOAK=30s`, and what it draws by.
SOAK ?= 10m
SEED ?=

soak: ## hostile load on daemons that are killed now and then, judged from outside all the time
	@packaging/need.sh linux go npm
	@$(MAKE) --no-print-directory node
	dir="$$(packaging/fit-dir.sh soak)" && TMPDIR="$$dir" CONFINE_SOAK=$(SOAK) CONFINE_SOAK_SEED=$(SEED) \
		CGO_ENABLED=0 go test -trimpath -v -count=1 -timeout=0 -run='^TestSoak$$' ./e2e

build: ## bin/confined
	@packaging/need.sh go
	CGO_ENABLED=0 go build -trimpath -o bin/confined ./cmd/server

node: ## the Node of the tests, or the one of version NODE, into .node
	@packaging/fetch-node.sh "$(NODE)"

tools: ## what else tests need from npm, pinned: tools that run inside, a compiler for macOS, and Nodes for it to read
	@packaging/need.sh linux
	@packaging/fetch-tools.sh packaging/tools
	@packaging/fetch-tools.sh packaging/mac-compiler
	@packaging/fetch-darwin.sh

generate: ## the HTTP code from openapi.yaml, docs/denied.md from the boundary suite
	@packaging/need.sh go
	go generate ./internal/httpapi ./client/api ./internal/prove/denied

check: ## formatting, vet for every platform, a build for macOS, tidy modules, generated code
	@packaging/need.sh go
	@unformatted="$$(gofmt -l .)"; test -z "$$unformatted" || { echo "not formatted, run make fmt: $$unformatted" >&2; exit 1; }
	@$(MAKE) --no-print-directory vet
	dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && \
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build -trimpath -o "$$dir/" ./...
	go mod tidy -diff
	@packaging/check-generated.sh

lint: ## openapi.yaml by a linter, and its types by a TypeScript compiler
	@packaging/need.sh linux npm
	@packaging/contract/check.sh

fmt: ## format all Go code
	gofmt -w .

vet: ## go vet for linux/amd64, linux/arm64 and darwin/arm64; e2e/load is a module of its own
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go vet ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go vet ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go vet ./...
	cd e2e/load && CGO_ENABLED=0 GOOS=linux go vet ./...

clean: ## remove what make built and fetched
	rm -rf bin .node
