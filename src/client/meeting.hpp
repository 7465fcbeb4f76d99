#pragma once
// Ranks that should be at one place of a program find out whether they are, and which ones are elsewhere.
#include <cstdint>
#include <string>

#include "client/job.hpp"

namespace perdure::client {

struct MeetingPlace {
  std::string text;        ///< description for people; cut after 150 characters
  std::uint64_t mark = 0;  ///< number that is the same for all ranks at this place
  double seconds = 0;      ///< time that ranks wait for each other; 0: as long as it takes
  bool* apart = nullptr;   ///< set to true if ranks are at several places
};

/// [collective] Tells whether `here` is true on any rank. PERDURE_MISMATCH: they are at several places, and the text
/// names them and the ranks at two of them. PERDURE_TIMEOUT: some have not come, within the comm::Patience of the
/// caller.
base::Result<bool> meet_at(Job& job, const MeetingPlace& at, bool here);

/// Adds the place to an error about ranks that have not come; other errors stay as they are.
base::Error late_at(const MeetingPlace& at, base::Error error);

}  // namespace perdure::client
