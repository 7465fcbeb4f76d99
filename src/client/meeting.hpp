#pragma once
// Ranks that should be at one place of a program: whether they are, and which ones are elsewhere.
#include <cstdint>
#include <string>

#include "client/job.hpp"

namespace perdure::client {

struct MeetingPlace {
  std::string text;        ///< for people; what is beyond 150 characters is cut
  std::uint64_t mark = 0;  ///< the same for who is there
  double seconds = 0;      ///< for which ranks wait for each other; 0: as long as it takes
  bool* apart = nullptr;   ///< gets true where ranks are at several places
};

/// [collective] Whether `here` is true on any rank. PERDURE_MISMATCH: they are at several places, and the text names
/// them and the ranks at two of them. PERDURE_TIMEOUT: some have not come, within the comm::Patience of the caller.
base::Result<bool> meet_at(Job& job, const MeetingPlace& at, bool here);

/// An error of ranks that have not come, with the place where they should be; other errors as they are.
base::Error late_at(const MeetingPlace& at, base::Error error);

}  // namespace perdure::client
