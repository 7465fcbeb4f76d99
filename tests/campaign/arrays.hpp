#pragma once
// Derives the arrays of a job, and their division among the ranks of a launch, from numbers in the scenario.
#include <cstddef>
#include <string>
#include <vector>

#include "array/strided.hpp"

namespace perdure::campaign {

struct ArrayShape {
  enum class Kind { global, list, replicated };
  int id = 0;
  std::string name, type;
  Kind kind = Kind::global;
  array::Box whole;
  std::uint64_t element_bytes = 0;
};

/// The share of an array that one rank has, in memory of its own. `boxes` lie at offsets in that memory.
struct ArrayDivision {
  enum class Call { global, block, block_cyclic, list, replicated };
  Call call = Call::global;
  std::vector<array::Strided> boxes;
  bool dense = true;  ///< without strides; the memory includes its ghosts
  array::Index ghosts{}, lengths{};
  bool fill_ghosts = false;
  std::uint64_t bytes = 0;  ///< size of that memory
};

/// Returns the job's arrays. The first is one number that is equal on all ranks: the step. All have some 10 KB to 2 MB
/// together.
std::vector<ArrayShape> shapes_of(int seed);

/// Returns the division, which is the same on all ranks for one `seed`; 0: even blocks.
ArrayDivision division_of(const ArrayShape& shape, int seed, int rank, int ranks);

/// Writes the bytes of the element at this index and step.
void put_element(const ArrayShape& shape, const array::Index& index, std::uint64_t step, std::byte* to);

/// Returns the first bytes of each box, at most `most`, densely as a capture stores them.
std::vector<std::vector<char>> beginnings(int shapes, int division, int rank, int ranks, std::uint64_t step,
                                          std::size_t most);

}  // namespace perdure::campaign
