#include "comm/launched.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace perdure::comm {
namespace {

struct Variables {
  const char* ranks;
  const char* rank;
};
// Variables that a launcher sets within another one come first.
constexpr std::array<Variables, 5> kLaunchers = {{{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                                  {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                                  {"PMI_SIZE", "PMI_RANK"},
                                                  {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
                                                  {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}};
constexpr const char* kPmixRank = "PMIX_RANK";  // PMIx has no variable for the number of ranks

std::optional<std::uint64_t> number(const Lookup& lookup, const char* name) {
  const char* text = lookup(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view all(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error != std::errc() || end != all.data() + all.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string Launched::text() const {
  std::string text = rank ? "rank " + std::to_string(*rank) : std::string("a rank");
  text += ranks ? " of " + std::to_string(*ranks) : " of several";
  const auto said = ranks ? ranks : rank;
  return text + " (" + variable + (said ? "=" + std::to_string(*said) : "") + ")";
}

std::optional<Launched> one_of_several(const Lookup& lookup) {
  for (const Variables& launcher : kLaunchers) {
    const auto ranks = number(lookup, launcher.ranks);
    if (!ranks) continue;
    if (*ranks < 2) return std::nullopt;
    return Launched{ranks, number(lookup, launcher.rank), launcher.ranks};
  }
  const auto rank = number(lookup, kPmixRank);
  if (!rank || *rank == 0) return std::nullopt;
  return Launched{std::nullopt, rank, kPmixRank};
}

}  // namespace perdure::comm
