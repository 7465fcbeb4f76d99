#include "scenario.hpp"

#include <cstdio>

namespace perdure::test_support {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  return x * 0xc4ceb9fe1a85ec53ULL;
}

int complain(perdure_t* handle, int rank, const char* what, perdure_status status) {
  std::fprintf(stderr, "rank %d: %s: %s: %s\n", rank, what, perdure_status_name(status), perdure_error_text(handle));
  return 92;
}

}  // namespace

std::vector<std::uint64_t> state_at(int rank, std::uint64_t step, std::size_t words) {
  std::vector<std::uint64_t> state(words);
  const std::uint64_t seed = mix(static_cast<std::uint64_t>(rank) * 1000003 + step + 1);
  for (std::size_t i = 0; i < words; ++i) state[i] = mix(seed + i);
  return state;
}

std::string options_in(const std::string& directory, const std::string& mode, const std::string& more) {
  return "store.path=" + directory + "/store;node.path=" + directory + "/node;tier.file.path=" + directory +
         "/file;chunk_bytes=128KiB;tier.memory.max_bytes=256MiB;tier.file.max_bytes=256MiB;engine.idle_exit=1;engine.mode=" + mode +
         ";flush.retry_initial=0.02;flush.retry_max=0.2" + (more.empty() ? "" : ";" + more);
}

int Program::run(const Rank& rank) const {
  perdure_t* handle = rank.open(options);
  std::uint64_t step = 0;
  std::vector<std::uint64_t> state = state_at(rank.rank, 0, words);
  perdure_protect(handle, 1, &step, sizeof step, 1);
  perdure_protect(handle, 2, state.data(), sizeof(std::uint64_t), state.size());
  perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
  if (status != PERDURE_OK && status != PERDURE_NOT_FOUND) return complain(handle, rank.rank, "restore", status);
  if (status == PERDURE_OK && state != state_at(rank.rank, step, words)) return 91;
  const std::int64_t restored = status == PERDURE_OK ? static_cast<std::int64_t>(step) : -1;
  if (restored < must_restore_at_least) {
    std::fprintf(stderr, "rank %d restored %ld, expected at least %ld\n", rank.rank, static_cast<long>(restored), static_cast<long>(must_restore_at_least));
    return 93;
  }
  while (step < last) {
    ++step;
    state = state_at(rank.rank, step, words);
    // The regions moved with the assignment? They must not: same size, same buffer.
    status = perdure_protect(handle, 2, state.data(), sizeof(std::uint64_t), state.size());
    if (status == PERDURE_OK) status = perdure_checkpoint(handle, "app", static_cast<std::int64_t>(step));
    if (status != PERDURE_OK) return complain(handle, rank.rank, "checkpoint", status);
  }
  if (wait_for_store) {
    status = perdure_wait(handle, "app", static_cast<std::int64_t>(last), PERDURE_LEVEL_STORE, 30);
    if (status != PERDURE_OK) return complain(handle, rank.rank, "wait", status);
  }
  status = perdure_close(&handle);
  return status == PERDURE_OK ? 0 : 94;
}

}  // namespace perdure::test_support
