#pragma once
// A place as bytes, for a checkpoint. Pure.
#include <cstddef>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "track/tracker.hpp"

namespace perdure::track {

std::vector<std::byte> encode_place(const Place& place);
/// Error: what is wrong with bytes that no tracker of this release wrote. Whatever they are, it needs no more memory
/// than some times their length.
tl::expected<Place, std::string> decode_place(std::span<const std::byte> bytes);

}  // namespace perdure::track
