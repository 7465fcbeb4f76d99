#pragma once
// Encodes a place as bytes, which a checkpoint holds besides its saved elements.
#include <cstddef>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "track/tracker.hpp"

namespace perdure::track {

/// The limits that decode_place() accepts for a place's answers, payload and lengths.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 30U;

std::vector<std::byte> encode(const Place& place);
/// Decodes untrusted bytes. Error: why they are malformed. Tracker::resume() judges the content.
tl::expected<Place, std::string> decode_place(std::span<const std::byte> bytes);

}  // namespace perdure::track
