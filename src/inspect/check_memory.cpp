// Checks memory, and the memory tier: whether there is enough, whether it is of the fast kind, and its real speed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "base/hash.hpp"
#include "config/directories.hpp"
#include "inspect/check.hpp"
#include "os/file.hpp"
#include "os/memory_map.hpp"
#include "os/system.hpp"

namespace perdure::inspect {
namespace {

using base::format_bytes;
constexpr std::uint64_t kShareOfMemory = 5;  // the memory tier's default limit: a fifth
constexpr int kRounds = 5;

Check check_huge_pages() {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
  const std::string setting = bracketed(text_of(path));
  if (setting.empty())
    return {"huge pages", Verdict::warning, "this kernel has none for shared memory",
            "copies into the memory tier are slower without; a newer kernel has them"};
  if (setting == "never" || setting == "deny")
    return {"huge pages", Verdict::warning, "switched off for shared memory (" + setting + ")",
            "echo advise | sudo tee " + path + "  makes the memory tier faster"};
  return {"huge pages", Verdict::ok, "for shared memory: " + setting, ""};
}

Check check_room(const config::Config& config, const std::string& root) {
  const std::string name = "memory tier room";
  if (auto wrong = wrong_root(config, name, "memory")) return *wrong;
  auto space = os::space(nearest_existing(root));
  if (!space)
    return {name, Verdict::problem, space.error().text(), "set node.path or tier.memory.path to a memory file system"};
  std::uint64_t wanted = config.bytes("tier.memory.max_bytes");
  if (wanted == 0) wanted = os::total_memory_bytes() / kShareOfMemory;
  const std::string finding =
      fmt::format("{} free of {} at {} ({}); the tier may grow to {}", format_bytes(space->available_bytes),
                  format_bytes(space->total_bytes), root, space->type, format_bytes(wanted));
  if (space->type != "tmpfs")
    return {name, Verdict::warning, finding,
            "set node.path or tier.memory.path to a memory file system such as /dev/shm"};
  if (space->available_bytes < wanted)
    return {name, Verdict::warning, finding,
            "remount with size=..., remove what others left there, or lower tier.memory.max_bytes; "
            "checkpoints beyond go to the next tier"};
  return {name, Verdict::ok, finding, ""};
}

double best_rate(std::uint64_t bytes, const std::function<void()>& copy) {
  double best_s = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t start = os::monotonic_ns();
    copy();
    best_s = std::min(best_s, static_cast<double>(os::monotonic_ns() - start) * 1e-9);
  }
  return static_cast<double>(bytes) / std::max(best_s, 1e-9) * 1e-9;
}

base::Result<Check> measure(const std::string& root, std::uint64_t bytes) {
  PERDURE_TRY(const auto scratch, Scratch::in(root));
  PERDURE_TRY(const auto file, os::File::open(scratch.path() + "/slot", os::Open::create_new));
  PERDURE_CHECK(file.truncate(bytes));
  PERDURE_TRY(const auto slot, os::Mapping::map(file, 0, bytes, true));
  slot.advise_huge_pages();
  PERDURE_CHECK(slot.populate(0, bytes));
  const std::vector<std::byte> source(bytes, std::byte{7});
  std::vector<std::byte> target(bytes, std::byte{1});
  const double plain = best_rate(bytes, [&] { std::memcpy(target.data(), source.data(), bytes); });
  base::Hasher hasher;
  const double tier = best_rate(bytes, [&] { base::copy_and_hash(slot.data(), source.data(), bytes, hasher); });
  const std::string finding = fmt::format(
      "{:.1f} GB/s into a recycled slot, hash included; memcpy {:.1f} GB/s (ratio {:.2f})", tier, plain, tier / plain);
  if (tier < 0.4 * plain)
    return Check{"memory tier speed", Verdict::warning, finding,
                 "an optimised build, huge pages for shared memory and an idle machine make it faster"};
  return Check{"memory tier speed", Verdict::ok, finding, ""};
}

}  // namespace

std::string text_of(const std::string& path) {
  auto bytes = os::read_file(path, 4096);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
}

std::vector<Check> check_memory(const config::Config&) {
  const std::uint64_t total = os::total_memory_bytes(), available = os::available_memory_bytes();
  const std::string finding = fmt::format("{} available of {} (the machine's, or our control group's if that is less)",
                                          format_bytes(available), format_bytes(total));
  const bool low = available < total / 10;
  return {{"memory", low ? Verdict::warning : Verdict::ok, finding,
           low ? "end other programs or ask for a larger memory limit" : ""}};
}

std::vector<Check> check_memory_tier(const config::Config& config, const DoctorOptions& options) {
  const std::string root = config::tier_root(config, "memory");
  std::vector<Check> checks{check_room(config, root), check_huge_pages()};
  const auto space = os::space(nearest_existing(root));
  if (options.sample_bytes == 0 || checks.front().verdict == Verdict::problem) return checks;
  if (space && space->available_bytes < 2 * options.sample_bytes) {
    checks.push_back(
        {"memory tier speed", Verdict::warning, "not measured: too little room at " + root, "free memory there"});
    return checks;
  }
  auto measured = measure(root, options.sample_bytes);
  checks.push_back(measured ? *measured
                            : Check{"memory tier speed", Verdict::problem, measured.error().text(),
                                    "set tier.memory.path to a place where you may write"});
  return checks;
}

}  // namespace perdure::inspect
