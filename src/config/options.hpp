#pragma once
// THE table of options. The API, the environment, files, the command line and docs/configuration.md all follow from it,
// and so do the keys that the code may use (key.hpp).
#include <array>
#include <string_view>

#include "config/option.hpp"
#include "config/refusal.hpp"

namespace perdure::config {

inline constexpr double kKiB = 1024;

inline constexpr auto kOptions = std::to_array<Option>({
    {.key = "store.path",
     .default_value = "./perdure-store",
     .environment = "PERDURE_STORE_PATH",
     .engine = true,
     .documentation = "Directory of the store, where checkpoints are durable. Relative to the working directory.",
     .absolute = true,
     .refuse = refuse_empty},
    {.key = "store.direct",
     .type = Type::boolean,
     .default_value = "true",
     .environment = "PERDURE_STORE_DIRECT",
     .engine = true,
     .documentation =
         "Write to the store with direct I/O (O_DIRECT). Data is durable sooner, and cached files of programs stay "
         "in memory. Restores read with it, too, what is not cached. If the file system does not support it, "
         "Perdure uses the page cache. Set this to false if direct I/O is slow on your file system."},
    {.key = "store.s3.endpoint",
     .environment = "PERDURE_STORE_S3_ENDPOINT",
     .engine = true,
     .documentation =
         "URL of the S3 server, for a store.path of the form s3://BUCKET/PREFIX. Empty: AWS_ENDPOINT_URL_S3 "
         "or AWS_ENDPOINT_URL of the environment, else the region's at amazonaws.com."},
    {.key = "store.s3.region",
     .environment = "PERDURE_STORE_S3_REGION",
     .engine = true,
     .documentation =
         "Region of the bucket. Empty: AWS_REGION or AWS_DEFAULT_REGION of the environment, else us-east-1."},
    {.key = "store.s3.addressing",
     .type = Type::choice,
     .default_value = "auto",
     .environment = "PERDURE_STORE_S3_ADDRESSING",
     .choices = "auto|path|host",
     .engine = true,
     .documentation = "Where requests name the bucket. `path`: in the path. `host`: in the host's name. `auto`: in the "
                      "path for a server that an endpoint names, else in the host's name."},
    {.key = "store.s3.certificates",
     .environment = "PERDURE_STORE_S3_CERTIFICATES",
     .engine = true,
     .documentation = "File with the certificate authorities that the server's certificate is checked against. Empty: "
                      "AWS_CA_BUNDLE of the environment, else the system's.",
     .absolute = true},
    {.key = "job",
     .default_value = "default",
     .environment = "PERDURE_JOB",
     .engine = true,
     .documentation =
         "Name of this job. Only the same job, store and configuration share an engine. A checkpoint name in a "
         "store belongs to one job.",
     .refuse = refuse_job},
    {.key = "case",
     .environment = "PERDURE_CASE",
     .documentation =
         "The number of a case, or a hash of its input. Versions of a name belong to one case. A program with "
         "another case is refused, so that it never continues from the wrong state. Empty: not compared.",
     .refuse = refuse_long},
    {.key = "launch",
     .environment = "PERDURE_LAUNCH",
     .documentation =
         "A text that all restarts of one run share, and no other run has. A restart with the same text takes over "
         "at once the checkpoint name of a killed launch. `perdure run` sets it. Empty: every launch is a run of "
         "its own.",
     .refuse = refuse_long},
    {.key = "messages",
     .type = Type::choice,
     .default_value = "none",
     .environment = "PERDURE_MESSAGES",
     .choices = "none|stderr",
     .documentation =
         "Where calls report. A call that waits for long says why: a close for a full or slow store, an open or a "
         "first checkpoint for another launch. A checkpoint names the branch that it leaves behind, a restore the "
         "newer versions that it passed over. `none`: the library prints nothing. `stderr`: one rank prints a line "
         "now and then to standard error. `perdure run` sets that."},
    {.key = "signals",
     .type = Type::choice,
     .default_value = "none",
     .environment = "PERDURE_SIGNALS",
     .choices = "none|checkpoint",
     .documentation =
         "`checkpoint`: SIGTERM, SIGINT and SIGUSR1 make a checkpoint due (perdure_due()). With SIGTERM and SIGINT "
         "it is the last one, and a second such signal, a second later or more, ends the program. Handlers that "
         "the program installed before it opened Perdure are called, too. Ignored signals stay ignored. `none`: "
         "Perdure installs no handler, and SIGTERM ends a program that has none."},
    {.key = "ranks.alone",
     .type = Type::boolean,
     .default_value = "false",
     .environment = "PERDURE_RANKS_ALONE",
     .documentation =
         "Lets perdure_open() in one of several ranks of mpirun or srun open for that rank alone, as a program by "
         "itself. Without this it is refused, because the program most likely forgot perdure_open_mpi(). Each rank "
         "then needs its own checkpoint names or store.path."},
    {.key = "run.grace",
     .type = Type::real,
     .default_value = "0",
     .unit = "s",
     .environment = "PERDURE_RUN_GRACE",
     .documentation =
         "How long `perdure run` waits for its program to checkpoint and end, after it passed on SIGTERM, SIGINT "
         "or SIGHUP. Then it kills the program. 0: without limit. Afterwards it flushes what the program left on "
         "the node, within `engine.drain_timeout`.",
     .maximum = 1e9},
    {.key = "affinity",
     .type = Type::choice,
     .default_value = "keep",
     .environment = "PERDURE_AFFINITY",
     .choices = "keep|cores|pages|none|reset",
     .documentation =
         "Which places `perdure resume` restores for a captured program. Checkpoints restore those of numbered "
         "threads (perdure_protect_thread) and of regions. `keep`: each thread may run on the processors that it "
         "had, and each page and memory policy is on its node. `cores`: threads only. `pages`: pages and policies "
         "only. `none`: threads run where `perdure resume` may, and the system places pages. `reset`: as `none`, "
         "but threads may run on all processors. On another machine, threads and pages that were together stay "
         "together."},
    {.key = "chunk_bytes",
     .type = Type::bytes,
     .default_value = "64MiB",
     .unit = "bytes",
     .environment = "PERDURE_CHUNK_BYTES",
     .engine = true,
     .documentation =
         "Size of a chunk, the unit of placement, transfer, hashing and redundancy. If it is not set, and "
         "`redundancy.scheme` is not `single`, chunks have 8 MiB. Ranks with parts of arrays then have chunks of a "
         "16th of their capture, at least 4 MiB, so that other ranks can read parts of it.",
     .minimum = 64 * kKiB,
     .maximum = 16 * kKiB * kKiB * kKiB,
     .multiple_of = 4096},
    {.key = "engine.mode",
     .type = Type::choice,
     .default_value = "embedded",
     .environment = "PERDURE_ENGINE_MODE",
     .choices = "embedded|daemon",
     .documentation =
         "Where the engine runs: as threads of the node's leader rank, or as the process `perdured`, which "
         "outlives the application."},
    {.key = "engine.cpus",
     .default_value = "auto",
     .environment = "PERDURE_ENGINE_CPUS",
     .engine = true,
     .documentation =
         "Processors of the node that the engine's threads run on. `auto`: if a launcher (mpirun, srun) bound the "
         "rank that hosts the engine, all that the job may use on this node; else as `inherit`. `inherit`: those "
         "of the process that hosts or starts the engine. Or a list, as in `2-3,8`. `perdure doctor` shows them.",
     .refuse = refuse_engine_cpus},
    {.key = "engine.daemon_path",
     .environment = "PERDURE_ENGINE_DAEMON_PATH",
     .documentation = "Program to start as `perdured`. Empty: beside the library, then in PATH."},
    {.key = "engine.spawn",
     .type = Type::boolean,
     .default_value = "true",
     .environment = "PERDURE_ENGINE_SPAWN",
     .documentation = "Lets the first client of a node start the engine, with mode daemon."},
    {.key = "engine.idle_exit",
     .type = Type::real,
     .default_value = "60",
     .unit = "s",
     .environment = "PERDURE_ENGINE_IDLE_EXIT",
     .engine = true,
     .documentation =
         "How long a `perdured` that a client started stays without clients and without work. 0: for ever.",
     .maximum = 1e9},
    {.key = "engine.drain_timeout",
     .type = Type::real,
     .default_value = "300",
     .unit = "s",
     .environment = "PERDURE_ENGINE_DRAIN_TIMEOUT",
     .documentation = "How long closing a handle with an embedded engine waits for the flush at most.",
     .maximum = 1e9},
    {.key = "engine.start_timeout",
     .type = Type::real,
     .default_value = "10",
     .unit = "s",
     .environment = "PERDURE_ENGINE_START_TIMEOUT",
     .documentation = "How long a client waits for an answer of an engine that was started.",
     .maximum = 1e9},
    {.key = "node.path",
     .environment = "PERDURE_NODE_PATH",
     .engine = true,
     .documentation =
         "Directory for a node's state while a job runs: catalog, socket, log. Empty: `/dev/shm/perdure-<uid>`.",
     .absolute = true},
    {.key = "node.ranks_per_node",
     .type = Type::integer,
     .default_value = "0",
     .environment = "PERDURE_NODE_RANKS_PER_NODE",
     .documentation =
         "Simulated nodes: so many consecutive ranks form a node, with an engine and tiers of its own. 0: real "
         "hosts.",
     .maximum = 1e6},
    {.key = "node.numbers",
     .environment = "PERDURE_NODE_NUMBERS",
     .documentation =
         "Numbers of the simulated nodes, separated by commas: the first `node.ranks_per_node` ranks are on the "
         "first of them, and so on. `perdure run --nodes` sets it to leave out failed nodes. Empty: 0, 1, 2 and so "
         "on.",
     .refuse = refuse_node_numbers},
    {.key = "tier.order",
     .type = Type::list,
     .default_value = "memory,file",
     .environment = "PERDURE_TIER_ORDER",
     .engine = true,
     .documentation = "The tiers in use, from the fastest to the slowest, separated by commas.",
     .refuse = refuse_tier_order},
    {.key = "tier.memory.path",
     .environment = "PERDURE_TIER_MEMORY_PATH",
     .engine = true,
     .documentation =
         "Directory of the memory tier's slots. It is fast on a memory file system only. Empty: `node.path`.",
     .absolute = true},
    {.key = "tier.memory.max_bytes",
     .type = Type::bytes,
     .default_value = "0",
     .unit = "bytes",
     .environment = "PERDURE_TIER_MEMORY_MAX_BYTES",
     .engine = true,
     .documentation =
         "Limit of the memory tier, which grows with the protected memory. 0: a fifth of the machine's memory, for "
         "all engines of the user on the node together."},
    {.key = "tier.memory.prefault",
     .type = Type::boolean,
     .default_value = "true",
     .environment = "PERDURE_TIER_MEMORY_PREFAULT",
     .engine = true,
     .documentation = "Allocate the slots' pages before the first checkpoint needs them."},
    {.key = "tier.file.path",
     .environment = "PERDURE_TIER_FILE_PATH",
     .engine = true,
     .documentation = "Node-local directory of the file tier's slots. Empty: `$TMPDIR/perdure-<uid>`, or "
                      "`/tmp/perdure-<uid>` without TMPDIR.",
     .absolute = true},
    {.key = "tier.file.max_bytes",
     .type = Type::bytes,
     .default_value = "0",
     .unit = "bytes",
     .environment = "PERDURE_TIER_FILE_MAX_BYTES",
     .engine = true,
     .documentation = "Limit of the file tier. 0: half of the free space on its file system."},
    {.key = "placement.policy",
     .type = Type::choice,
     .default_value = "adaptive",
     .environment = "PERDURE_PLACEMENT_POLICY",
     .registered = placement_policies,
     .engine = true,
     .documentation =
         "Which tier takes the next chunk. `adaptive`: the tier with which the whole checkpoint is predicted to "
         "end first. `hybrid-opt`: the tier predicted to be fastest, or none while flushes are predicted to be "
         "faster (VeloC). `hybrid-naive`: the first with room; it predicts nothing, and so is never wrong about a "
         "tier. `cache-only`, `ssd-only`: the first, the last, as long as a slot may become free."},
    {.key = "pipeline",
     .type = Type::list,
     .default_value = "replicate,flush,retire",
     .environment = "PERDURE_PIPELINE",
     .engine = true,
     .documentation =
         "The steps of a version in the background after its commit, in order, separated by commas: `replicate` "
         "(to level `node`; nothing without redundancy), `flush` (to level `store`), `retire` (retention), and "
         "steps that are linked into the engine. With `flush` before `replicate`, the flush does not wait for "
         "level `node`. Without `retire`, the store keeps every version. `perdure top` shows them.",
     .refuse = refuse_pipeline},
    {.key = "flush.during_capture",
     .type = Type::choice,
     .default_value = "auto",
     .environment = "PERDURE_FLUSH_DURING_CAPTURE",
     .choices = "auto|always|never",
     .engine = true,
     .documentation =
         "When chunks are flushed before all ranks have finished their capture. `auto`: when the capture does not "
         "fit into the first tier. `always` costs memory bandwidth during the capture, and an aborted capture was "
         "written for nothing. With `never`, a checkpoint larger than the tiers fails."},
    {.key = "placement.models",
     .environment = "PERDURE_PLACEMENT_MODELS",
     .documentation =
         "Directory of the tiers' models: `perdure calibrate` makes them, and engines start from them. Empty: "
         "`perdure-models` beside the configuration file, or in `~/.config/perdure` without such a file.",
     .absolute = true},
    {.key = "capture.mode",
     .type = Type::choice,
     .default_value = "copy",
     .environment = "PERDURE_CAPTURE_MODE",
     .choices = "copy|cow|auto",
     .documentation =
         "How a checkpoint captures memory. `copy`: the call copies it. `cow` (copy on write): the call protects "
         "it against writes and returns at level `none`; threads copy it in the background. A write to a part that "
         "is not copied yet waits for that part (docs/copy-on-write.md). The call copies memory that cannot be "
         "protected. `auto`: `cow` where the system handles the kernel's own writes, too (`perdure doctor`), and "
         "where the last checkpoints say that it costs less."},
    {.key = "checkpoint.timeout",
     .type = Type::real,
     .default_value = "600",
     .unit = "s",
     .environment = "PERDURE_CHECKPOINT_TIMEOUT",
     .documentation = "How long a checkpoint waits for a slot at most.",
     .maximum = 1e9},
    {.key = "checkpoint.lease",
     .type = Type::real,
     .default_value = "30",
     .unit = "s",
     .environment = "PERDURE_CHECKPOINT_LEASE",
     .documentation =
         "How long a launch keeps a checkpoint name without renewing its lease in the store. One launch at a time "
         "writes a name. Another launch takes it over after that time, or at once when the owner is gone from the "
         "same machine.",
     .minimum = 0.1,
     .maximum = 3600},
    {.key = "checkpoint.replace",
     .type = Type::boolean,
     .default_value = "false",
     .environment = "PERDURE_CHECKPOINT_REPLACE",
     .documentation =
         "Lets a checkpoint write an existing version again. The older one stays until the newer is complete."},
    {.key = "new_start",
     .type = Type::choice,
     .default_value = "keep",
     .environment = "PERDURE_NEW_START",
     .choices = "keep|refuse",
     .documentation =
         "What happens to the versions of a name at the first checkpoint of a launch that has restored none of "
         "them. `keep`: they stay as a branch of their own, and the launch begins another one; a report and a "
         "message say so. `refuse`: the checkpoint fails."},
    {.key = "segment.per",
     .default_value = "node",
     .environment = "PERDURE_SEGMENT_PER",
     .documentation =
         "Files of a version in the store: one per `node`, one per `rank`, or a number of them for the whole "
         "job.",
     .refuse = refuse_segment_per},
    {.key = "flush.threads",
     .type = Type::integer,
     .default_value = "2",
     .environment = "PERDURE_FLUSH_THREADS",
     .engine = true,
     .documentation =
         "The most threads of an engine that write to the store at once. As many more read slow tiers meanwhile, "
         "except with flush.max_slowdown. Each has a buffer of at most 4 MiB. Three more threads lead flushes, "
         "however many versions wait.",
     .minimum = 1,
     .maximum = 64},
    {.key = "flush.max_slowdown",
     .type = Type::real,
     .default_value = "0",
     .unit = "fraction",
     .environment = "PERDURE_FLUSH_MAX_SLOWDOWN",
     .engine = true,
     .documentation =
         "How much slower the application may run during a flush: 0.05 is 5 % more time between its checkpoints. "
         "If the engine measures more, fewer threads flush, or none for a while. Chunks that a checkpoint waits "
         "for are flushed all the same. 0: no limit.",
     .maximum = 1},
    {.key = "flush.max_bandwidth",
     .type = Type::bytes,
     .default_value = "0",
     .unit = "bytes/s",
     .environment = "PERDURE_FLUSH_MAX_BANDWIDTH",
     .engine = true,
     .documentation = "The most that an engine writes to the store per second. 0: no limit."},
    {.key = "flush.retry_initial",
     .type = Type::real,
     .default_value = "0.1",
     .unit = "s",
     .environment = "PERDURE_FLUSH_RETRY_INITIAL",
     .engine = true,
     .documentation = "The first pause after a flush failed with an error that may pass. Each further pause is longer.",
     .minimum = 0.001,
     .maximum = 1e6},
    {.key = "flush.retry_max",
     .type = Type::real,
     .default_value = "10",
     .unit = "s",
     .environment = "PERDURE_FLUSH_RETRY_MAX",
     .engine = true,
     .documentation = "The longest pause between two tries of a flush.",
     .minimum = 0.001,
     .maximum = 1e6},
    {.key = "flush.give_up_after",
     .type = Type::real,
     .default_value = "600",
     .unit = "s",
     .environment = "PERDURE_FLUSH_GIVE_UP_AFTER",
     .engine = true,
     .documentation =
         "How long an engine retries a flush after errors that may pass. Then it abandons the flush with a report. A "
         "restore waits so long, and 30 s at least, for all flushes together that fail or move nothing.",
     .maximum = 1e9},
    {.key = "retention.keep_last",
     .type = Type::integer,
     .default_value = "2",
     .environment = "PERDURE_RETENTION_KEEP_LAST",
     .engine = true,
     .documentation =
         "How many of the newest complete versions of a name are kept, of the current branch and of each that was "
         "left since its run began. Other runs' branches stay.",
     .minimum = 1},
    {.key = "retention.keep_every",
     .type = Type::integer,
     .default_value = "0",
     .environment = "PERDURE_RETENTION_KEEP_EVERY",
     .engine = true,
     .documentation = "Versions that are multiples of this stay for good. 0: none."},
    {.key = "restore.record",
     .environment = "PERDURE_RESTORE_RECORD",
     .documentation =
         "Directory in which every successful restore leaves an empty file `NAME@VERSION`. It tells whoever "
         "started the program where it continued. `perdure run --check-protection` sets it. Empty: none.",
     .absolute = true},
    {.key = "restore.move_pages",
     .type = Type::boolean,
     .default_value = "false",
     .environment = "PERDURE_RESTORE_MOVE_PAGES",
     .documentation =
         "Moves existing pages of regions to the memory nodes that they were on at the checkpoint. Without it only "
         "untouched memory gets its pages there."},
    {.key = "node.topology",
     .environment = "PERDURE_NODE_TOPOLOGY",
     .documentation =
         "File that says which nodes fail together: lines `node chassis rack`, with as many names as there are "
         "levels, from the innermost outwards. Nodes of one group are from different chassis and racks if "
         "possible. A node is named by its host name. Empty: every node fails alone."},
    {.key = "redundancy.scheme",
     .type = Type::choice,
     .default_value = "single",
     .environment = "PERDURE_REDUNDANCY_SCHEME",
     .registered = redundancy_schemes,
     .engine = true,
     .documentation =
         "What nodes keep for each other, so that a checkpoint survives lost nodes without the store. `single`: "
         "nothing. `partner`, `buddy`: a copy of everything on the next node of the group. `xor`: a parity that "
         "survives the loss of one node of a group. `reed-solomon`: `redundancy.parities` of them. "
         "`parity-server`: the parity is on a server outside of the nodes, see `redundancy.parity_servers`."},
    {.key = "redundancy.parity_servers",
     .type = Type::list,
     .environment = "PERDURE_REDUNDANCY_PARITY_SERVERS",
     .engine = true,
     .documentation =
         "With `parity-server`: the files that the servers (`perdure-parityd --endpoint FILE`) wrote, separated by "
         "commas. All nodes must be able to read them."},
    {.key = "redundancy.group_size",
     .type = Type::integer,
     .default_value = "8",
     .environment = "PERDURE_REDUNDANCY_GROUP_SIZE",
     .documentation =
         "How many nodes keep redundancy for each other. Groups have this size as nearly as the number of nodes "
         "allows; a job with fewer nodes is one group.",
     .minimum = 2,
     .maximum = 64},
    {.key = "redundancy.parities",
     .type = Type::integer,
     .default_value = "2",
     .environment = "PERDURE_REDUNDANCY_PARITIES",
     .engine = true,
     .documentation = "With `reed-solomon`: how many nodes of a group may be lost without loss of data.",
     .minimum = 1,
     .maximum = 8},
    {.key = "redundancy.threads",
     .type = Type::integer,
     .default_value = "2",
     .environment = "PERDURE_REDUNDANCY_THREADS",
     .engine = true,
     .documentation = "Threads of an engine that encode parities and rebuild lost data.",
     .minimum = 1,
     .maximum = 64},
    {.key = "redundancy.during_capture",
     .type = Type::choice,
     .default_value = "auto",
     .environment = "PERDURE_REDUNDANCY_DURING_CAPTURE",
     .choices = "auto|always|never",
     .engine = true,
     .documentation =
         "When chunks are replicated as they are written, not only when the checkpoint is complete. `auto`: while "
         "as many processors as `redundancy.threads` are idle. Beside ranks that capture on all processors, the "
         "call would take longer, and level `node` would come no sooner. Captures below 64 KiB, and those with "
         "`partner`, are never replicated early."},
    {.key = "redundancy.in_call",
     .type = Type::boolean,
     .default_value = "false",
     .environment = "PERDURE_REDUNDANCY_IN_CALL",
     .documentation =
         "A checkpoint returns only when it has reached level `node`, or cannot reach it. Otherwise the engine "
         "goes on in the background."},
    {.key = "network.provider",
     .default_value = "tcp",
     .environment = "PERDURE_NETWORK_PROVIDER",
     .engine = true,
     .documentation = "The libfabric provider that engines use to reach each other. Used only with redundancy.",
     .refuse = refuse_empty},
    {.key = "network.bind",
     .environment = "PERDURE_NETWORK_BIND",
     .documentation =
         "Network interface that engines listen on: its name, which may be the same on all nodes (`ib0`), its address, "
         "or a host name. Empty: the provider's choice."},
    {.key = "catalog.compact_above",
     .type = Type::bytes,
     .default_value = "4MiB",
     .environment = "PERDURE_CATALOG_COMPACT_ABOVE",
     .engine = true,
     .documentation =
         "An engine rewrites its catalog's log as a snapshot when the log is longer than this and has grown fourfold.",
     .minimum = kKiB},
    {.key = "emulate.description",
     .environment = "PERDURE_EMULATE_DESCRIPTION",
     .engine = true,
     .documentation =
         "File that describes a node's devices (`share/perdure/devices/*.toml`). The store, and the tiers by their "
         "position in `tier.order`, then have the speed and capacity that it says. For studies. Empty: off.",
     .absolute = true},
    {.key = "emulate.seed",
     .type = Type::integer,
     .default_value = "1",
     .environment = "PERDURE_EMULATE_SEED",
     .engine = true,
     .documentation = "Random seed of the emulated devices' load: equal seeds give equal runs."},
    {.key = "emulate.nodes",
     .type = Type::integer,
     .default_value = "1",
     .environment = "PERDURE_EMULATE_NODES",
     .engine = true,
     .documentation = "How many nodes share the emulated store: each engine gets the share that the description gives.",
     .minimum = 1,
     .maximum = 1e6},
});

/// Returns the row of `key`, or nullptr.
constexpr const Option* find_option(std::string_view key) {
  for (const Option& option : kOptions)
    if (key == option.key) return &option;
  return nullptr;
}

}  // namespace perdure::config
