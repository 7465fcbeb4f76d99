#include "plan/lineage.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

namespace perdure::plan {
namespace {

// A nonce that names a branch has 16 bits that say so, 24 of the branch, and 24 random ones. One in 65,536 old nonces,
// which are random, seems to name a branch: then its version is kept longer.
constexpr std::uint64_t kNamesABranch = 0xB7A6;
constexpr unsigned kMarkShift = 48, kBranchShift = 24;
constexpr std::uint64_t kBranchMask = 0xFF'FFFF;
constexpr std::size_t kBranchDigits = 6;

const Fork* fork_of(const std::vector<Fork>& forks, Branch branch) {
  const auto found = std::find_if(forks.begin(), forks.end(), [&](const Fork& one) { return one.branch == branch; });
  return found == forks.end() ? nullptr : &*found;
}

}  // namespace

// The largest number has no successor; there the nonces decide.
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns) {
  return clock_ns > newest_known_ns ? clock_ns : newest_known_ns + (newest_known_ns + 1 == 0 ? 0 : 1);
}

Branch branch_of(std::uint64_t nonce) {
  return nonce >> kMarkShift == kNamesABranch ? static_cast<Branch>(nonce >> kBranchShift & kBranchMask) : kFirstBranch;
}

std::uint64_t nonce_on(Branch branch, std::uint64_t random) {
  return kNamesABranch << kMarkShift | (branch & kBranchMask) << kBranchShift | (random & kBranchMask);
}

Branch draw_branch(std::uint64_t random) {
  const auto drawn = static_cast<Branch>(random & kBranchMask);
  return drawn == kFirstBranch ? 1 : drawn;
}

std::string branch_text(Branch branch) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%06lx", static_cast<unsigned long>(branch));
  return text.data();
}

std::optional<Branch> parse_branch(std::string_view text) {
  Branch branch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), branch, 16);
  if (text.size() != kBranchDigits || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return branch_text(branch) == text ? std::optional(branch) : std::nullopt;
}

// No line is longer than all forks together, even with damaged records.
Line line_of(const std::vector<Fork>& forks, Branch branch) {
  Line line{{branch, std::numeric_limits<std::uint64_t>::max()}};
  while (line.size() <= forks.size()) {
    const Fork* fork = fork_of(forks, line.back().branch);
    if (fork == nullptr) break;
    line.push_back({fork->parent, std::min(fork->begun_ns, line.back().until_ns)});
  }
  return line;
}

bool on_line(const Line& line, Branch branch, std::uint64_t begun_ns) {
  return std::any_of(line.begin(), line.end(),
                     [&](const LinePart& part) { return part.branch == branch && begun_ns <= part.until_ns; });
}

Branch run_of(const std::vector<Fork>& forks, Branch branch) { return line_of(forks, branch).back().branch; }

bool related(const std::vector<Fork>& forks, Branch one, Branch other) {
  return run_of(forks, one) == run_of(forks, other);
}

std::vector<Fork> useful_forks(const std::vector<Fork>& forks, const std::vector<LineVersion>& there) {
  std::vector<bool> useful(forks.size());
  for (const LineVersion& version : there) {
    const Line line = line_of(forks, version.branch);
    std::size_t last = 0;  // the last part that has versions
    for (std::size_t part = 1; part < line.size(); ++part)
      if (std::any_of(there.begin(), there.end(), [&](const LineVersion& other) {
            return other.branch == line[part].branch && other.begun_ns <= line[part].until_ns;
          }))
        last = part;
    for (std::size_t i = 0; i < forks.size(); ++i)
      for (std::size_t part = 0; part < last; ++part)
        if (forks[i].branch == line[part].branch) useful[i] = true;
  }
  std::vector<Fork> kept;
  for (std::size_t i = 0; i < forks.size(); ++i)
    if (useful[i]) kept.push_back(forks[i]);
  return kept;
}

// An unread store may have newer versions: a branch too many costs nothing, one too few costs versions.
BranchChoice choose_branch(const BranchFacts& facts) {
  using Way = BranchChoice::Way;
  BranchChoice choice{facts.from ? Way::same : Way::start, std::nullopt};
  if (facts.from && !facts.store_seen) choice.way = Way::fork;
  for (const LineVersion& one : facts.whole) {
    if (facts.from && one.begun_ns <= facts.from->begun_ns) continue;
    if (facts.from && one.branch == facts.from->branch) choice.way = Way::fork;
    if (!choice.left || choice.left->begun_ns < one.begun_ns) choice.left = one;
  }
  return choice;
}

}  // namespace perdure::plan
