#pragma once
// Converts arrays of the C functions to regions. PERDURE_INVALID_ARGUMENT about the region if the array is invalid.
#include "capture/region.hpp"
#include "perdure/perdure.h"

namespace perdure::capi {

/// All of a declaration but the rank's boxes.
struct Declared {
  segment::ArrayEntry array;
  capture::Ghosts ghosts;
};
base::Result<Declared> declared_array(int id, const perdure_array* array, segment::ArrayKind kind);

base::Result<capture::Region> global_region(int id, const perdure_array* array, const perdure_box* boxes,
                                            std::size_t count);
/// `grid` nullptr: the most even one.
base::Result<array::Box> block_of(int id, const array::Box& whole, const std::uint64_t* grid, std::uint64_t rank,
                                  std::uint64_t ranks);
base::Result<capture::Region> block_region(int id, const perdure_array* array, const std::uint64_t* grid, void* address,
                                           std::uint64_t rank, std::uint64_t ranks);
base::Result<capture::Region> block_cyclic_region(int id, const perdure_array* array, const std::uint64_t* grid,
                                                  const std::uint64_t* lengths, void* address, std::uint64_t rank,
                                                  std::uint64_t ranks);
base::Result<capture::Region> list_region(int id, const perdure_array* array, void* address, std::uint64_t rows);
/// Parses the arguments of perdure_describe_elements(); null: unknown.
base::Result<segment::Elements> elements_said(int id, const char* type, int dimensions, const std::uint64_t* extents);
base::Result<capture::Region> replicated_region(int id, const perdure_array* array, void* address, bool stores);

}  // namespace perdure::capi
