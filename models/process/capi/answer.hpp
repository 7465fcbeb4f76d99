#pragma once
// What perdure-process tells the library that started it: through a pipe, or into the memory of the process that is
// captured, which may have no pipe then.
#include <array>
#include <cstdint>
#include <type_traits>

namespace perdure::process {

struct HelperAnswer {
  static constexpr std::int32_t kNothingYet = -1;
  std::int32_t status = kNothingYet;  ///< a perdure_status
  std::int32_t process = 0;
  std::int64_t version = -1;
  std::array<char, 8192> text{};  ///< of an error, or what was asked for; ends with 0
};
static_assert(std::is_trivially_copyable_v<HelperAnswer>);

}  // namespace perdure::process
