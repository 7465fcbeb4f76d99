#pragma once
// Who has come in through the provider's port, and who of them has to go. The provider accepts everybody who comes and
// never gives up on who says nothing; what it has accepted costs descriptors that the program may need. Pure.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perdure::network {

/// One accepted connection.
struct Caller {
  std::uint64_t heard_bytes = 0;
  std::uint64_t silent_ns = 0;  ///< since it was heard last, or came
  /// More than what asks the provider for a connection. An endpoint asks at once, and says hello when it is answered.
  bool has_spoken() const;
};

/// The descriptors of this process.
struct Descriptors {
  std::uint64_t limit = 0;
  std::uint64_t open = 0;  ///< all, with those of callers
};

/// How many callers may be there beyond the endpoints that are known: an eighth of all descriptors, half of those that
/// are left, and a thousand at most. They are a minority of what is left, whatever the program itself has open.
std::size_t places_for_strangers(const Descriptors& descriptors, std::size_t callers, std::size_t known);

/// The indices of those to be closed: who has not spoken within the deadline; and, where more than known + places are
/// there, all beyond known + places / 2: first who has said nothing at all, then who has not spoken, then the others;
/// of these those who have been silent for longest. Endpoints that know each other are heard once per second.
std::vector<std::size_t> callers_to_close(const std::vector<Caller>& callers, std::size_t known, std::size_t places);

}  // namespace perdure::network
