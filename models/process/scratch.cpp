#include "process/scratch.hpp"

#include <algorithm>
#include <optional>

namespace perdure::process {
namespace {

constexpr std::uint64_t kAlignment = 64;

bool own(const MemoryMap& map) { return map.readable && map.writable && !map.shared && map.name != "[vvar]"; }

std::optional<std::uint64_t> choose(const std::vector<MemoryMap>& maps, std::uint64_t stack) {
  const std::uint64_t end = unused_below(stack) / kAlignment * kAlignment;
  for (const auto& map : maps)
    if (own(map) && end >= map.begin + Scratch::kBytes && end <= map.end) return end - Scratch::kBytes;
  for (const auto& map : maps)
    if (own(map) && !map.is_file()) return map.begin;
  return std::nullopt;
}

}  // namespace

base::Result<Scratch> Scratch::of(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps) {
  PERDURE_TRY(const Registers registers, tracee.registers(thread));
  const auto address = choose(maps, stack_of(registers));
  if (!address)
    return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(tracee.process()),
                      "it has no memory of its own that may be written");
  Scratch scratch(tracee, thread, *address);
  scratch.before_.resize(kBytes);
  PERDURE_CHECK(read_memory(thread, *address, scratch.before_));
  return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : tracee_(other.tracee_), thread_(other.thread_), address_(other.address_), before_(std::move(other.before_)) {
  other.before_.clear();
}

Scratch::~Scratch() {
  if (!before_.empty()) (void)write_memory(thread_, address_, before_);  // fails if the process is gone
}

}  // namespace perdure::process
