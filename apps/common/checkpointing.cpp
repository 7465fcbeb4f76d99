#include "checkpointing.hpp"

#include <mpi.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "perdure/perdure_mpi.hpp"

void Checkpointing::add_options(CLI::App& app, const std::string& name) {
  policy_.name = name;
  app.add_option("--checkpoint-every", policy_.every_s,
                 "Seconds from one checkpoint to the next; a run that died goes on from its last one")
      ->check(CLI::PositiveNumber);
  app.add_option("--checkpoint-loops", policy_.every_loops, "Loops from one checkpoint to the next")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--checkpoint-before", policy_.before,
                 "Only before loops of this name, instead of where a checkpoint is smallest");
  app.add_option("--checkpoint-learns", policy_.learns,
                 "So many loops tell where it is smallest: two time steps or more")
      ->check(CLI::Range(std::uint64_t{64}, std::uint64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--checkpoint-report", policy_.report,
                 "File for `perdure track`: what a checkpoint before each loop has");
  app.add_flag("--checkpoint-on-signals", policy_.on_signals,
               "SIGTERM, SIGINT: a checkpoint, and when it is in the store the end; SIGUSR1: a checkpoint");
  app.add_option("--checkpoint-name", policy_.name, "Name of the checkpoints")->capture_default_str();
}

void Checkpointing::protect(perdure::mesh::Mesh& mesh) {
  if (policy_.every_s <= 0 && policy_.every_loops == 0 && !policy_.on_signals) return;
  speaks_ = mesh.ranks().rank() == 0;
  handle_ = perdure::open_mpi(MPI_COMM_WORLD).value();
  protection_ = &perdure::mesh::protect(mesh, handle_, policy_);
  if (speaks_ && protection_->restarted())
    std::printf(" It goes on from the checkpoint before loop %" PRIu64 "; loops up to it are skipped\n",
                protection_->goes_on_at());
}

void Checkpointing::report() const {
  if (protection_ == nullptr) return;
  protection_->ended();
  if (!speaks_) return;
  const auto& taken = protection_->taken();
  std::printf(" Checkpoints: %zu\n", taken.size());
  if (taken.empty()) return;
  double longest_s = 0;
  for (const auto& one : taken) longest_s = std::max(longest_s, one.blocking_s);
  const auto& last = taken.back();
  const auto bytes = static_cast<double>(last.bytes), state = static_cast<double>(last.state_bytes);
  std::printf(
      " The last one, before loop '%s': %.3f MB, %.2f %% of the state of %.3f MB; the longest blocked for %.1f ms\n",
      last.before.c_str(), bytes * 1e-6, 100 * bytes / state, state * 1e-6, longest_s * 1e3);
}

void Checkpointing::close() {
  protection_ = nullptr;
  if (handle_) handle_.close().value();
}
