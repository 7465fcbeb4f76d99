#pragma once
// A place as bytes, which go into the checkpoint with what was saved.
#include <cstddef>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "track/tracker.hpp"

namespace perdure::track {

/// What decode_place() takes of a place's answers, their payload, and its lengths.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 30U;

std::vector<std::byte> encode(const Place& place);
/// Of bytes that may be anything. Error: what is wrong with them. Tracker::resume() judges what they say.
tl::expected<Place, std::string> decode_place(std::span<const std::byte> bytes);

}  // namespace perdure::track
