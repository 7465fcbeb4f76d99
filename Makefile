# A thin front over the CMake presets (CMakePresets.json). Everything else is done by the scripts in tools/.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help demo demo-nodes test build bench bench-redundancy studies format clean bootstrap bootstrap-required

help:
	@echo "make demo     kill a rank of an N-body run, restart it, compare the results"
	@echo "make demo-nodes  destroy a node and the store's content, restart on a spare node, compare the results"
	@echo "make test     everything that CI runs"
	@echo "make build    the release preset, in build/release"
	@echo "make bench    the asynchronous checkpointing benchmark on 1, 2 and 4 ranks"
	@echo "make bench-redundancy  what redundancy between nodes costs and gives; figures in build/bench/redundancy.json"
	@echo "make studies  the six studies of adaptive checkpointing, in virtual time and some by the engine; results in build/studies"
	@echo "make format   clang-format over the tree"
	@echo "make clean    removes build/"

demo: bootstrap-required build
	@tools/demo

demo-nodes: bootstrap-required build
	@tools/demo-nodes

test: bootstrap
	@tools/test

build:
	@tools/build release

bench: build
	@tools/bench

bench-redundancy: bootstrap-required build
	@bench/redundancy/run

studies: bootstrap-required
	@bench/studies/run all --driver both

format:
	@tools/format

clean:
	rm -rf build

bootstrap:
	@tools/bootstrap

bootstrap-required:
	@tools/bootstrap --required
