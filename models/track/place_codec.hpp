#pragma once
// A place as bytes, which go into the checkpoint with what was saved.
#include <cstddef>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "track/tracker.hpp"

namespace perdure::track {

std::vector<std::byte> encode(const Place& place);
/// Of bytes that may be anything. Error: what is wrong with them. Tracker::resume() judges what they say.
tl::expected<Place, std::string> decode_place(std::span<const std::byte> bytes);

}  // namespace perdure::track
