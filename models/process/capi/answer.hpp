#pragma once
// perdure-process gives this answer to the library that started it, through a pipe. For a captured caller, which may
// have no pipe after a resume, it writes the answer into the caller's memory.
#include <array>
#include <cstdint>
#include <type_traits>

namespace perdure::process {

struct HelperAnswer {
  static constexpr std::int32_t kNothingYet = -1;
  std::int32_t status = kNothingYet;  ///< a perdure_status
  std::int32_t process = 0;
  std::int64_t version = -1;
  std::array<char, 8192> text{};  ///< text of an error, or the answer to a question; ends with 0
};
static_assert(std::is_trivially_copyable_v<HelperAnswer>);

}  // namespace perdure::process
