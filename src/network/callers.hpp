#pragma once
// Decides which connections through the provider's port have to be closed. The provider accepts everybody and never
// closes a silent connection. Accepted connections cost descriptors that the program may need. Pure.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perdure::network {

/// One accepted connection.
struct Caller {
  std::uint64_t heard_bytes = 0;
  std::uint64_t silent_ns = 0;  ///< since it was last heard, or was accepted
  /// Whether it sent more than a connection request to the provider. An endpoint sends that at once, and says hello
  /// after the answer.
  bool has_spoken() const;
};

/// The descriptors of this process.
struct Descriptors {
  std::uint64_t limit = 0;
  std::uint64_t open = 0;  ///< all, including those of callers
};

/// Returns how many callers may be there beyond the known endpoints. It is the least of a thousand, an eighth of all
/// descriptors, and half of the free ones. They stay a minority of the free ones, whatever the program itself has open.
std::size_t places_for_strangers(const Descriptors& descriptors, std::size_t callers, std::size_t known);

/// Returns the indices of callers to close. These are callers that have not spoken within the deadline. If there are
/// more than known + places, they are also all beyond known + places / 2. Then silent callers go first, next those that
/// have not spoken, next the others, and the longest silent first. Endpoints that know each other are heard once per
/// second.
std::vector<std::size_t> callers_to_close(const std::vector<Caller>& callers, std::size_t known, std::size_t places);

}  // namespace perdure::network
