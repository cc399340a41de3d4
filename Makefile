# One command surface; `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# node-gyp can't always reach the server of Node's headers: use those that lie beside the node that runs, if any.
NODE_PREFIX := $(shell dirname "$$(dirname "$$(readlink -f "$$(command -v node)")")")
ifneq ($(wildcard $(NODE_PREFIX)/include/node/node.h),)
export npm_config_nodedir := $(NODE_PREFIX)
endif

# What the tests call: poppler, qpdf, librsvg, jbig2dec and libtiff check our output; a CJK face and a compiler; servers of
# FTP, SFTP and WebDAV to deliver to; LibreOffice is an engine.
TEST_PACKAGES := build-essential python3 python3-numpy python3-pil poppler-utils qpdf librsvg2-bin jbig2dec libtiff-tools \
	fonts-noto-cjk fonts-dejavu-core fonts-liberation fontconfig chromium curl openssl time \
	libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-writer-nogui \
	apache2 apache2-utils openssh-client openssh-server fuse3 python3-fusepy python3-pyftpdlib python3-venv rclone vsftpd
# An object store that knows conditional writes.
PYTHON_PACKAGES := 'moto[s3,server]==5.2.5'

.PHONY: help run build test check chaos fuzz soak lint format check-corpus check-pdfa bench bench-peers clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# Installs anew only where the lock file is another one than was installed last: times of files say nothing after a clone.
.PHONY: install
install:
	@cmp -s package-lock.json node_modules/.installed-lock.json || \
		{ npm ci --no-audit --no-fund && cp package-lock.json node_modules/.installed-lock.json; }

build: install ## compile src/ to dist/
	npm run --silent build && chmod +x dist/main.js

run: build ## start the service on its defaults, with a key and a font of its own, and print a curl line
	node scripts/run.mjs

test: test-packages build ## install what the tests need and run all of them
	npm test

check: build ## format, lint, types and all tests, with what is installed
	npm run --silent lint && npm run --silent types && npm test

chaos: build ## [ROUNDS=300] [SEED=N]: kill the service with -9 again and again, and look for what was lost
	ROUNDS="$(or $(ROUNDS),300)" SEED="$(SEED)" npx vitest run test/chaos

fuzz: install ## [N=1000] [SEED=1] [CORPUS=DIR]: N damaged packages through the engine, from number SEED on
	npx tsc -p tsconfig.fuzz.json
	N="$(N)" SEED="$(SEED)" CORPUS="$(and $(CORPUS),$(abspath $(CORPUS)))" node dist/fuzz/test/fuzz/main.js

soak: build ## [MIN=60] [SEED=1] [RATE=2] [CORPUS=DIR]: MIN minutes of mixed load with faults; memory, handles, files, outcomes
	npx tsc -p tsconfig.soak.json
	MIN="$(MIN)" SEED="$(SEED)" RATE="$(RATE)" CORPUS="$(and $(CORPUS),$(abspath $(CORPUS)))" node dist/soak/test/soak/main.js

lint: install ## check format and lint rules
	npm run --silent lint

format: install ## rewrite files in the house's format
	npm run --silent format

check-corpus: build ## CORPUS=DIR [SAMPLE=1]: convert a corpus of OFD files and compare backends and references
	@test -n "$(CORPUS)" || { echo "check-corpus needs CORPUS=DIR, a folder with ofd/*.ofd (and reference/)"; exit 2; }
	CORPUS="$(abspath $(CORPUS))" SAMPLE="$(SAMPLE)" npx vitest run --config vitest.corpus.config.ts

check-pdfa: build ## CORPUS=DIR VERAPDF=PROGRAM: PDFs of a corpus and of all cases, judged by a validator of PDF/A
	@test -n "$(CORPUS)" -a -n "$(VERAPDF)" || { echo "check-pdfa needs CORPUS=DIR, a folder with ofd/*.ofd, and VERAPDF=PROGRAM (PROGRAM 2b FILE...)"; exit 2; }
	node scripts/check-pdfa.mjs "$(abspath $(CORPUS))" "$(VERAPDF)"

bench: build ## CORPUS=DIR: time, memory and size of conversions; latency and submissions of the service
	@test -n "$(CORPUS)" || { echo "bench needs CORPUS=DIR, a folder with ofd/*.ofd"; exit 2; }
	node bench/run.mjs "$(CORPUS)" $(ARGS)

bench-peers: build ## CORPUS=DIR PEER=PROGRAM: the same beside another converter, as ratios
	@test -n "$(CORPUS)" -a -n "$(PEER)" || { echo "bench-peers needs CORPUS=DIR and PEER=PROGRAM (PEER IN OUT, PEER --warm N IN OUT)"; exit 2; }
	node bench/run.mjs "$(CORPUS)" --peer "$(PEER)" $(ARGS)

clean: ## remove what was built (data/ stays)
	rm -rf dist

.PHONY: test-packages
test-packages:
	@scripts/install-packages $(TEST_PACKAGES)
	@scripts/install-python-packages data/python $(PYTHON_PACKAGES)
