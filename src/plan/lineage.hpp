#pragma once
// Tells which versions of a name belong together. A branch is a sequence of versions that follow each other. A launch
// that begins anew, or goes back to an older version, begins another branch. Each attempt carries its branch in its
// nonce, so that no piece, record or file can lose it. A fork records that a branch continues another one.
// (docs/adr/0052) Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"

namespace perdure::plan {

/// Drawn at random; people see six hexadecimal digits.
using Branch = std::uint32_t;
/// The branch of all attempts whose nonce names none: an older Perdure wrote them.
inline constexpr Branch kFirstBranch = 0;

/// Returns the branch that a nonce names.
Branch branch_of(std::uint64_t nonce);
/// Returns a nonce that names this branch; it takes the low 24 bits of `random`.
std::uint64_t nonce_on(Branch branch, std::uint64_t random);
/// Makes a branch of random bits, never kFirstBranch.
Branch draw_branch(std::uint64_t random);
std::string branch_text(Branch branch);  ///< "3f9a12"
/// Parses the text of branch_text(), and refuses any other.
std::optional<Branch> parse_branch(std::string_view text);

/// Returns the time of a new attempt at a version: the clock's, or one later than every known attempt of the name. A
/// clock may go back, and a later attempt must count as newer, whatever its version's number is. (docs/adr/0002)
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns);

/// Branch `branch` continues this version of `parent`.
struct Fork {
  Branch branch = 0;
  Branch parent = 0;
  std::uint64_t version = 0;
  std::uint64_t begun_ns = 0;  ///< when that attempt began, which tells it from others of its branch
  friend bool operator==(const Fork&, const Fork&) = default;
  PERDURE_FIELDS(branch, parent, version, begun_ns)
};

/// A part of a line: the attempts of a branch that began until then.
struct LinePart {
  Branch branch = 0;
  std::uint64_t until_ns = 0;
  friend bool operator==(const LinePart&, const LinePart&) = default;
  PERDURE_FIELDS(branch, until_ns)
};
/// A branch, first, and all branches that it continues. Plain version numbers mean those of the current line.
using Line = std::vector<LinePart>;

/// Follows the forks: a branch without one began anew.
Line line_of(const std::vector<Fork>& forks, Branch branch);
bool on_line(const Line& line, Branch branch, std::uint64_t begun_ns);
/// Takes a segment::Attempt.
template <class Attempt>
bool on_line(const Line& line, const Attempt& attempt) {
  return on_line(line, branch_of(attempt.nonce), attempt.created_ns);
}
template <class Attempt>
bool same_branch(const Attempt& one, const Attempt& other) {
  return branch_of(one.nonce) == branch_of(other.nonce);
}
/// Returns the last branch of a branch's line: all branches of one run have the same.
Branch run_of(const std::vector<Fork>& forks, Branch branch);
/// Whether both began as one run.
bool related(const std::vector<Fork>& forks, Branch one, Branch other);

/// The lineage of an attempt at a version.
struct LineVersion {
  Branch branch = 0;
  std::uint64_t version = 0;
  std::uint64_t begun_ns = 0;
  friend bool operator==(const LineVersion&, const LineVersion&) = default;
};

/// Returns the forks that are still needed: those from a branch of `there` to another part of its line with versions in
/// `there`. Dropping a fork only keeps versions longer.
std::vector<Fork> useful_forks(const std::vector<Fork>& forks, const std::vector<LineVersion>& there);

/// Facts when a launch is about to write its first version of a name, or the first after a restore.
struct BranchFacts {
  std::optional<LineVersion> from;  ///< the version of the program's state; nothing: it has restored nothing
  std::vector<LineVersion> whole;   ///< attempts of all branches that are or were whole
  bool store_seen = true;           ///< false: the store may have more
};
struct BranchChoice {
  enum class Way {
    same,  ///< continues the branch of `from`, which is its newest version
    fork,  ///< a new branch that continues `from`: newer versions of its branch stay behind
    start  ///< a new branch that continues no other
  } way = Way::same;
  std::optional<LineVersion> left;  ///< the newest version that stays behind
  friend bool operator==(const BranchChoice&, const BranchChoice&) = default;
};
BranchChoice choose_branch(const BranchFacts& facts);

}  // namespace perdure::plan
