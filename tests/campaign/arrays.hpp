#pragma once
// The arrays of a job, and how they are divided among the ranks of a launch: both follow from numbers of the scenario.
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

/// What one rank has of an array, and where in memory of its own. `boxes` lie at offsets in it.
struct ArrayDivision {
  enum class Call { global, block, block_cyclic, list, replicated };
  Call call = Call::global;
  std::vector<array::Strided> boxes;
  bool dense = true;  ///< without strides, with its ghosts around
  array::Index ghosts{}, lengths{};
  bool fill_ghosts = false;
  std::uint64_t bytes = 0;  ///< of that memory
};

/// The first is one number that is equal on all ranks: the step. Some 10 KB to 2 MB in all.
std::vector<ArrayShape> shapes_of(int seed);

/// The same on all ranks for the same `seed`; 0: even blocks.
ArrayDivision division_of(const ArrayShape& shape, int seed, int rank, int ranks);

/// What the element at this place holds at this step: its bytes.
void put_element(const ArrayShape& shape, const array::Index& index, std::uint64_t step, std::byte* to);

/// The first bytes of each box, at most `most`, one element behind the other: as a capture has them.
std::vector<std::vector<char>> beginnings(int shapes, int division, int rank, int ranks, std::uint64_t step,
                                          std::size_t most);

}  // namespace perdure::campaign
