#pragma once
// Which versions of a name belong together. A branch is a sequence of versions that follow each other; a launch that
// begins anew, or goes back to an older version, begins another branch. Each attempt carries its branch in its nonce,
// so that no piece, record or file can lose it. Where a branch goes on from another one, a fork says so.
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
/// Of all attempts whose nonce names none: an older Perdure wrote them.
inline constexpr Branch kFirstBranch = 0;

/// The branch that a nonce names.
Branch branch_of(std::uint64_t nonce);
/// A nonce that names this branch; of `random` it takes the low 24 bits.
std::uint64_t nonce_on(Branch branch, std::uint64_t random);
/// A branch out of random bits, never kFirstBranch.
Branch draw_branch(std::uint64_t random);
std::string branch_text(Branch branch);  ///< "3f9a12"
/// What branch_text() gives, and nothing else.
std::optional<Branch> parse_branch(std::string_view text);

/// Branch `branch` goes on from this version of `parent`.
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
/// A branch and all that it went on from, the branch first. Plain numbers of versions mean those of the current line.
using Line = std::vector<LinePart>;

/// As far as the forks say: a branch without one began anew.
Line line_of(const std::vector<Fork>& forks, Branch branch);
bool on_line(const Line& line, Branch branch, std::uint64_t begun_ns);
/// Of a segment::Attempt.
template <class Attempt>
bool on_line(const Line& line, const Attempt& attempt) {
  return on_line(line, branch_of(attempt.nonce), attempt.created_ns);
}
template <class Attempt>
bool same_branch(const Attempt& one, const Attempt& other) {
  return branch_of(one.nonce) == branch_of(other.nonce);
}
/// The branch that a branch's line ends with: all of one run have the same.
Branch run_of(const std::vector<Fork>& forks, Branch branch);
/// Both began as one run.
bool related(const std::vector<Fork>& forks, Branch one, Branch other);

/// An attempt at a version, as far as lineage goes.
struct LineVersion {
  Branch branch = 0;
  std::uint64_t version = 0;
  std::uint64_t begun_ns = 0;
  friend bool operator==(const LineVersion&, const LineVersion&) = default;
};

/// The forks that are still of use: those on the way from a branch of `there` to another part of its line that has any
/// of `there`. What is left out is only kept longer.
std::vector<Fork> useful_forks(const std::vector<Fork>& forks, const std::vector<LineVersion>& there);

/// What is known when a launch is about to write its first version of a name, or the first after a restore.
struct BranchFacts {
  std::optional<LineVersion> from;  ///< what the program's state is of; nothing: it has restored nothing
  std::vector<LineVersion> whole;   ///< attempts that are whole, or were, of all branches
  bool store_seen = true;           ///< false: the store may have more
};
struct BranchChoice {
  enum class Way {
    same,  ///< goes on with the branch of `from`, whose newest version that is
    fork,  ///< a new branch that goes on from `from`: something newer of its branch stays behind
    start  ///< a new branch that goes on from nothing
  } way = Way::same;
  std::optional<LineVersion> left;  ///< the newest that stays behind
  friend bool operator==(const BranchChoice&, const BranchChoice&) = default;
};
BranchChoice choose_branch(const BranchFacts& facts);

}  // namespace perdure::plan
