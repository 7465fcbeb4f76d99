# A thin front over the CMake presets (CMakePresets.json). Everything else is done by the scripts in tools/.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

PREFIX ?= /usr/local

.PHONY: help demo demo-store demo-nodes demo-elastic demo-mesh demo-process demo-programs test campaign campaign-process mutants unit build install docs bench bench-redundancy bench-elastic bench-mesh bench-process bench-speed bench-peers studies format clean \
  bootstrap bootstrap-required

help:
	@echo "make demo              kill a rank of an N-body run, restart it, compare the results"
	@echo "make demo-nodes        destroy a node and the store's content, restart on a spare node, compare the results"
	@echo "make demo-store        an S3 server is the store: kill all ranks, lose the node, restore from S3, compare the results"
	@echo "make demo-elastic      lose a rank and go on with 3 instead of 4, then with 2; compare the results, plot the field"
	@echo "make demo-mesh         kill a hydrodynamics code that has no checkpoint code, go on with 2 ranks instead of 4, compare the results"
	@echo "make demo-process      capture a running OpenMP program from outside, kill it, bring it back, compare the results"
	@echo "make build             everything, optimised, in build/release"
	@echo "make install PREFIX=P  library, programs and headers below P (default /usr/local)"
	@echo "make test              everything that CI runs"
	@echo "make test SINCE=REV    what the difference from the commit REV can reach"
	@echo "make unit FILES=F      build and run the unit tests of the source files F, in build/dev"
	@echo "make campaign          what takes longer than CI may: more seeds, every later crash point, longer fuzzing"
	@echo "make campaign RUNS=N SEED=S  N drawn scenarios of several failures at once, from seed S on (1), against a model of what was promised"
	@echo "make campaign RUNS=N ELASTIC=yes  of arrays on other numbers of ranks, with one failure at most"
	@echo "make campaign PEOPLE=N  what people do with a program, as N seeds draw it: changed code, forgotten closes, SIGTERM at any moment"
	@echo "make campaign KILLED=N  each mini-application killed anywhere, from N seeds, on other numbers of ranks and threads"
	@echo "make campaign-process SEEDS=N  each kernel and each awkward program captured at N random moments (500), killed, brought back, compared"
	@echo "make mutants           would a test notice? Changes the code in hundreds of places, one at a time, and runs the tests that reach each"
	@echo "make docs              the documentation as a site, in build/site"
	@echo "make bench             the asynchronous checkpointing benchmark on 1, 2 and 4 ranks"
	@echo "make bench-redundancy  what redundancy between nodes costs and gives; figures in build/bench/redundancy.json"
	@echo "make bench-elastic     what arrays that ranks have together cost and give; figures in build/bench/elastic.json"
	@echo "make bench-mesh        what the mesh library and its checkpoints cost and give; figures in build/bench/mesh.json"
	@echo "make bench-process     what it costs to capture a running process and to bring it back; figures in build/bench/process.json"
	@echo "make bench-speed       how long checkpoints and restores keep an application; figures in build/bench/speed.json"
	@echo "make bench-peers       the same program over Perdure and whichever of VeloC, SCR and FTI is installed; figures in build/bench/peers.json"
	@echo "make studies           the six studies of adaptive checkpointing, in virtual time and some by the engine; in build/studies"
	@echo "make format            clang-format over the tree"
	@echo "make clean             removes build/"

demo: demo-programs
	@echo "== 3 of 3: the demonstration, some 20 s"
	@tools/demo

demo-store:
	@echo "== 1 of 3: packages, and the S3 server moto"
	@tools/bootstrap && echo "  all are here"
	@echo "== 2 of 3: building the command line and one program in build/demo; 3 to 5 min on 2 processors, once"
	@tools/build --progress demo -DPERDURE_RUN_ONLY=OFF nbody perdure_cli
	@echo "== 3 of 3: the demonstration, some 40 s"
	@tools/demo-store

demo-nodes: demo-programs
	@echo "== 3 of 3: the demonstration, some 40 s"
	@tools/demo-nodes

demo-elastic:
	@echo "== 1 of 3: packages"
	@tools/bootstrap --demo && echo "  all are here"
	@echo "== 2 of 3: building the command line and the heat solver in build/demo; 4 to 7 min on 2 processors, once"
	@tools/build --progress demo -DPERDURE_RUN_ONLY=OFF heat2d_c perdure_cli
	@echo "== 3 of 3: the demonstration, some 20 s"
	@tools/demo-elastic

demo-mesh:
	@echo "== 1 of 3: packages"
	@tools/bootstrap --demo && echo "  all are here"
	@echo "== 2 of 3: building the library, the daemon and CloverLeaf in build/demo; 3 to 5 min on 2 processors, once"
	@tools/build --progress demo clover3d
	@echo "== 3 of 3: the demonstration, some 60 s"
	@tools/demo-mesh

demo-process:
	@echo "== 1 of 3: packages"
	@tools/bootstrap --demo && echo "  all are here"
	@echo "== 2 of 3: building the command line and the kernels in build/demo; 3 to 6 min on 2 processors, once"
	@tools/build --progress demo -DPERDURE_RUN_ONLY=OFF kernels perdure_cli
	@echo "== 3 of 3: the demonstration, some 20 s"
	@tools/demo-process

demo-programs:
	@echo "== 1 of 3: packages"
	@tools/bootstrap --demo && echo "  all are here"
	@echo "== 2 of 3: building the library, the command line for running programs and one program in build/demo; 2 to 4 min on 2 processors, once"
	@tools/build --progress demo nbody perdure_cli

test: bootstrap
	@tools/test $(if $(SINCE),--since $(SINCE))

build: bootstrap-required
	@tools/build --progress release

install:
	@tools/bootstrap --install
	@tools/build --progress install installable
	@tools/install "$(PREFIX)"

docs:
	@tools/docs

unit:
	@tools/unit $(FILES)

campaign: bootstrap
	@tools/campaign $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED)) $(if $(ELASTIC),--elastic) $(if $(PEOPLE),--people $(PEOPLE)) $(if $(KILLED),--killed $(KILLED))

campaign-process: bootstrap-required
	@tools/build --progress release campaign_process_programs
	@tools/campaign-process $(if $(SEEDS),--seeds $(SEEDS)) $(if $(MINUTES),--minutes $(MINUTES))

mutants: bootstrap-required
	@tools/mutants

bench: build
	@tools/bench

bench-redundancy: bootstrap-required build
	@bench/redundancy/run

bench-elastic: bootstrap-required
	@tools/build --progress release bench_elastic_programs
	@bench/elastic/run

bench-mesh: bootstrap-required
	@tools/build --progress release bench_mesh_programs
	@bench/mesh/run

bench-process: bootstrap-required
	@tools/build --progress release bench_process_programs
	@bench/process/run

bench-speed: bootstrap-required
	@tools/build --progress release bench_speed_programs
	@bench/speed/run

bench-peers: bootstrap-required
	@tools/build --progress release bench_peers_programs
	@bench/peers/run $(OPTIONS)

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
