# Everything there is to do here; `make` alone lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

BIN := bin/monotable
DEMO := bin/demo
LINT := go tool -modfile=tools/go.mod golangci-lint
FUZZTIME ?= 20s
TESTFLAGS ?=
BENCHFLAGS ?=
SOAKTIME ?= 20m
SOAKKILL ?= 1m
DISTFLAGS ?=
DISTTARGETS ?= linux_amd64,windows_amd64
DISTPARTS ?= packages,image,npm,python,channels
DIFFTIME ?= 10m
# The packages whose tests take longest: make test begins with them, so that none of them runs alone at the end.
SLOWEST := ./test/languages ./internal/tools/console ./internal/database/storage/kv/postgreskv ./systems/demo \
  ./internal/database/engine ./test/systems ./systems/transporteapp ./test/sdk
FAULTTIME ?= 5m
FAULTSEED ?= 0

.PHONY: help build run web web-dev site test test-whole lint fmt race fuzz differential overload bench bench-growth bench-cluster cluster-test tikv-test deploy-test infrastructure-test soak tidy setup clean dist dist-test dist-reproducible profile console-scale bin/monotable-release

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/monotable and bin/demo
	@[ -x $(BIN) ] || echo "building: the first time takes a minute or two" >&2
	@go build -o $(BIN) ./cmd/monotable
	@go build -o $(DEMO) ./cmd/demo

run: build ## start the database on 127.0.0.1:8000, its data in ./data, and the systems on 127.0.0.1:8080
	@exec $(DEMO) serve --data ./data --sample 1k

web: web/node_modules ## build the pages into web/dist and the systems' clients into web/clients (Node)
	@documents=$$(mktemp -d) && trap "rm -rf $$documents" EXIT && go run ./cmd/demo openapi --out $$documents && \
	  cd web && node build/clients.mjs $$documents && npm run --silent build

web-dev: web/node_modules ## serve the pages from source on port 5173, next to a running demo (SERVER=http://127.0.0.1:8080)
	@cd web && npm run --silent dev

site: web/node_modules site/node_modules ## build the documentation into site/dist (Node); fails on broken links. site/screenshots DIR takes screenshots
	@cd site && for d in ../docs/diagrams/*.d2; do go tool d2 --theme 0 --dark-theme 200 --pad 8 $$d $${d%.d2}.svg 2>/dev/null && chmod 644 $${d%.d2}.svg; done
	@cd site && npm run --silent build && node links.mjs

site/node_modules: site/package-lock.json
	@cd site && npm ci --no-audit --no-fund --loglevel=error && touch node_modules

web/node_modules: web/package-lock.json
	@cd web && npm ci --no-audit --no-fund --loglevel=error && touch node_modules && cp package-lock.json node_modules/.installed

setup: ## install test dependencies: AWS CLI, boto3, pytest (Debian), npm packages (pinned)
	@test/setup

# Many tests wait for programs and disks, so one package more than processors runs at a time. make lint vets.
test: setup build ## run every test, real SDKs and the AWS CLI included
	@go test -timeout=30m -vet=off -p=$$(($$(nproc) + 1)) $(TESTFLAGS) $(SLOWEST) ./...

test-whole: setup build ## run what make test shortens: all designs in TypeScript and Python, all systems on DynamoDB Local (an hour)
	@nice go test -count=1 -timeout=2h ./test/languages -everything
	@nice go test -count=1 -timeout=1h ./test/systems -whole

lint: ## check style and correctness with golangci-lint, and .github/workflows with actionlint (pinned in tools/)
	@$(LINT) run ./...
	@go tool -modfile=tools/dist/go.mod actionlint

fmt: ## format with gofumpt and gci
	@$(LINT) fmt ./...

race: setup build ## run every test under the race detector
	@go test -race -timeout=40m $(TESTFLAGS) ./...

fuzz: ## fuzz every fuzz target for FUZZTIME (20s)
	@for pkg in $$(grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for target in $$(grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' $$pkg/*_test.go | sed 's/^func //'); do \
	    echo "$$pkg $$target"; go test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=2s $$pkg; \
	  done; \
	done

differential: setup ## compare random requests with DynamoDB Local for DIFFTIME (10m); fails on an unreviewed difference
	@nice go test -count=1 -v -timeout=3h ./test/differential -seed=0 -time=$(DIFFTIME)

overload: build ## overload a server and check its memory and its other clients (2 minutes)
	@go test ./test/overload -count 1 -v -full -timeout 5m

bench: build bin/monotable-release ## measure against peers, side by side (BENCHFLAGS=-h for choices), and the services by route
	@cmp -s bench/package-lock.json bench/node_modules/.installed || { (cd bench && npm ci --no-audit --no-fund --loglevel=error) && cp bench/package-lock.json bench/node_modules/.installed; }
	@CGO_ENABLED=0 go run ./bench $(BENCHFLAGS)
	@systems/load

# Compiled like a release, see tools/dist/build.go: without C, and with a profile, dependencies too, which takes two minutes.
bin/monotable-release:
	@CGO_ENABLED=0 GOAMD64=v1 go build -trimpath -tags=grpcnotrace,nopgxregisterdefaulttypes -pgo=tools/dist/monotable.pgo -ldflags="-s -w" -o $@ ./cmd/monotable

bench-growth: ## measure how performance changes with the number of items, tables, indexes, items of a collection, and writers of one item
	@CGO_ENABLED=0 go run ./bench -parts growth $(BENCHFLAGS)

bench-cluster: build ## measure servers that share a store, by number and request (20 minutes; BENCHFLAGS=-h for choices)
	@go run ./bench cluster $(BENCHFLAGS)

# All with the tag tikv, so that nothing is compiled twice.
cluster-test: setup build ## run everything over PostgreSQL and TiKV's stand-in, the suites of the systems included, and faults for FAULTTIME on either (40 minutes on two cores)
	@go test -count=1 -timeout=1h -v -tags tikv ./internal/database/storage/kv/postgreskv/... ./internal/database/storage/kv/tikvkv/...
	@go test -count=1 -timeout=1h -v -tags tikv ./test/metamorphic -run TestHistory
	@go test -count=1 -timeout=2h -v -artifacts -tags tikv ./test/cluster -whole
	@go test -count=1 -timeout=3h -v -artifacts -tags tikv ./test/faults -time=$(FAULTTIME) -seed=$(FAULTSEED)

tikv-test: ## run the store in TiKV over PD and a stand-in, with fewer suites and faults than cluster-test (15 minutes; the first compilation takes more)
	@nice go test -count=1 -timeout=1h -v -tags tikv ./internal/database/storage/kv/tikvkv/...
	@nice go test -count=1 -timeout=1h -v -tags tikv -p 1 ./test/metamorphic ./test/cluster ./test/faults -run TiKV

deploy-test: ## check the systems' pipelines with actionlint, their templates against SAM's schema, and deploy/ against the schemas of Compose and Kubernetes (minutes at first)
	@cd test/deploy/pipelines && go test -count=1 ./...
	@if command -v cfn-lint >/dev/null; then cfn-lint -t systems/*/lambda/template.yaml; else echo "cfn-lint is not installed: templates are checked against the schema only" >&2; fi
	@lint=$$(go tool -n -modfile=tools/go.mod golangci-lint) && cd test/deploy/schema && $$lint run ./... && go test ./...

infrastructure-test: ## run CDK and Serverless themselves: compare CDK's template with the tested one, create and seed a Serverless table (minutes; npm)
	@for tool in cdk serverless; do (cd test/infrastructure/$$tool && npm ci --no-audit --no-fund --loglevel=error); done
	@go test -count=1 -v ./test/infrastructure -run 'TestCDKTemplate|TestServerless' -tools

console-scale: ## open, page, scroll and edit a table of 1,000,000 items and 100 items of 400 KB in the console (a minute; Chromium)
	@go test -count=1 -v ./internal/tools/console -run 'TestScale$$' -scale-items 1000000 -scale-large 100

soak: ## run 70 % of peak load for SOAKTIME (20m) with a kill -9 every SOAKKILL (1m), and check everything
	@go test -count=1 -v -timeout=2h ./test/soak -time=$(SOAKTIME) -kill=$(SOAKKILL)

dist: ## build a release into dist/: binaries, archives, packages, images (DISTFLAGS=-h for choices; docs/releasing.md)
	@cd tools/dist && go run . $(DISTFLAGS)

dist-test: setup ## build a release for DISTTARGETS (linux_amd64,windows_amd64; or all) and test its parts: archives, packages, images, npm, Python, channels, with DISTPARTS=all the systems (minutes)
	@test/setup dist
	@lint=$$(go tool -n -modfile=tools/go.mod golangci-lint) && cd tools/dist && go run . -out bin/dist -targets $(DISTTARGETS) -parts $(DISTPARTS) && $$lint run ./... && go test ./sh
	@cd examples/testcontainers && go vet ./...
	@go test -count=1 -v -timeout=30m ./test/dist -dist ../../bin/dist

profile: build ## take the CPU profile with which releases are compiled (2 minutes on a quiet machine)
	@tools/dist/profile

dist-reproducible: ## build a release twice, from two directories, and compare every file: the one for Linux on amd64, or that of DISTFLAGS ("-targets all")
	@tools/dist/reproducible $(DISTFLAGS)

tidy: ## tidy every go.mod
	@go mod tidy
	@cd tools/dist && go mod tidy
	@cd examples/testcontainers && go mod tidy
	@cd tools && go mod tidy
	@cd test/deploy/schema && go mod tidy
	@cd test/deploy/pipelines && go mod tidy

clean: ## remove build output (not ./data)
	@rm -rf bin dist
