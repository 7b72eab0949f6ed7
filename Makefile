# Everything the house is checked with. `make test` is the one to run.

GO        ?= go
TOOL       = $(GO) tool -modfile=tools/go.mod
PKG       ?= ./...
FUZZTIME  ?= 30s
PROTOCOLS  = ./pkg/provider/openai ./pkg/provider/responses ./pkg/provider/anthropic ./pkg/provider/gemini ./pkg/provider/ollama

.PHONY: all build test check lint vuln fuzz bench faults faults-full soak clean

all: build

# build makes the static binary bin/kagent.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/kagent .

# test is the definition of done: static checks, then every test under the
# race detector in a random order. The race detector alone needs cgo. By default it
# lets each process sleep for a second at its end, and the tests start thousands.
test: check
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 20m $(PKG)

# check holds the static half of test.
check:
	@bad=$$(gofmt -l .) && if [ -n "$$bad" ]; then echo "not formatted (run gofmt -w):" >&2; echo "$$bad" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags faults,bench,soak . ./internal/faults ./internal/soak ./pkg/provider/...
	$(TOOL) staticcheck ./...
	$(GO) test -tags faults -count=1 -run TestRulesAreBrokenWhereTheyAre ./internal/faults
	$(GO) mod tidy -diff

# lint is check and the stricter formatter.
lint: check
	@bad=$$($(TOOL) gofumpt -l .) && if [ -n "$$bad" ]; then echo "not formatted (run gofumpt -w):" >&2; echo "$$bad" >&2; exit 1; fi

# vuln asks the vulnerability database, so it needs the network.
vuln:
	$(TOOL) govulncheck ./...

# fuzz runs every fuzz target for FUZZTIME, one after the other. Minimising is bounded:
# its default of a minute an input takes all the time where an input is a whole log.
fuzz:
	@found=; for p in $$($(GO) list $(PKG)); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    found=1; echo "fuzz $$p $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
	  done; \
	done; [ -n "$$found" ] || { echo "no fuzz targets in $(PKG)" >&2; exit 1; }

# bench measures what a session and the decoding of streams cost, as ratios within one run.
bench:
	$(GO) test -tags bench -count=1 -v -run 'StorageCost|StartSize|ListOfMany|ShowOfAHuge|ResumeOfALarge|StepsOfALong|TenThousandSteps' .
	$(GO) test -tags bench -count=1 -v -p 1 -run DecodeCost $(PROTOCOLS)

# oracle asks the official SDKs, which are a module of their own, about the golden
# requests and streams. It fetches them, and they take minutes to compile.
oracle:
	cd internal/wire/oracle && $(GO) test -count=1 ./...

# interop runs the built program against servers that nobody here wrote: aimock,
# which it fetches by npm, and llama.cpp's where there is one (KAGENT_LLAMA_MODEL
# names its model).
interop:
	$(GO) test -tags interop -count=1 -v -run Interop ./internal/wire

# faults proves what is promised about kills, power cuts, failing disks and races
# on the built binary. KAGENT_FAULTLAB names the lab, FAULTS_PROFILE=short takes
# a few minutes.
faults:
	$(GO) test -tags faults -count=1 -timeout 120m -v ./internal/faults

# faults-full is the whole of it, whatever the environment says.
faults-full:
	FAULTS_PROFILE=full $(MAKE) faults

# soak keeps twenty sessions at work under kills, signals, full disks and a bad
# network for SOAK_TIME (10m). SOAK_SEED repeats the choices of an earlier one.
soak:
	$(GO) test -tags soak -count=1 -timeout 60m -v ./internal/soak

clean:
	rm -rf bin
