#pragma once
// Embedded engines and daemons run the same code. A case that asserts the same of both therefore runs in one of the
// modes, which its name draws, and beside a sanitizer with an embedded engine; a campaign runs both. What runs in both
// every time is listed in drawn_modes.cpp.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/sanitized.hpp"

namespace perdure::test_support {

/// A suite that runs in both modes every time, or one case of it ("Suite.Case").
struct RunsInBothModes {
  std::string_view tests;
  std::string_view why;
};
std::span<const RunsInBothModes> those_in_both_modes();

/// The same case in the other mode: "Modes/Suite.Case/daemon" for "Modes/Suite.Case/embedded", and so on whatever
/// follows the mode. Empty: the name has no mode.
std::string in_other_mode(std::string_view name);

/// Those of these cases that do not run: the one that was not drawn of each two that differ in the mode alone. Two
/// that copy on write run in the other mode than the two that copy in the call. `embedded_only`: perdured's is the one
/// that does not run, for a sanitizer sees all of an embedded engine in one process.
std::vector<std::string> cases_left_out(const std::vector<std::string>& names, bool embedded_only = kSanitized);

/// The full names of all cases of this program. The program is to have called InitGoogleTest.
std::vector<std::string> all_cases_of_this_program();

/// Leaves them out where this program is asked for its list, by which ctest runs it, and no campaign is under way
/// (PERDURE_TEST_CAMPAIGN). Whoever names a case gets it in the mode that he names.
void list_drawn_cases_only();

}  // namespace perdure::test_support
