#pragma once
// Embedded engines and daemons run the same code. So a case that asserts the same of both runs in only one mode, which
// its name draws. Sanitized builds use an embedded engine; a campaign runs both modes. drawn_modes.cpp lists the cases
// that always run in both.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/sanitized.hpp"

namespace perdure::test_support {

/// A suite that always runs in both modes, or one case of it ("Suite.Case").
struct RunsInBothModes {
  std::string_view tests;
  std::string_view why;
};
std::span<const RunsInBothModes> those_in_both_modes();

/// Returns the same case in the other mode: "Modes/Suite.Case/daemon" for "Modes/Suite.Case/embedded", with any suffix.
/// Empty: the name has no mode.
std::string in_other_mode(std::string_view name);

/// Returns which of these cases do not run: of each two that differ only in the mode, the one that was not drawn. Two
/// cases that copy on write run in the other mode than the two that copy in the call. `embedded_only`: cases with
/// perdured do not run, because a sanitizer sees all of an embedded engine in one process.
std::vector<std::string> cases_left_out(const std::vector<std::string>& names, bool embedded_only = kSanitized);

/// Returns the full names of all cases of this program, which must have called InitGoogleTest.
std::vector<std::string> all_cases_of_this_program();

/// Leaves these cases out of the program's list, from which ctest runs it, unless a campaign runs
/// (PERDURE_TEST_CAMPAIGN). A case that is named explicitly runs in the named mode.
void list_drawn_cases_only();

}  // namespace perdure::test_support
