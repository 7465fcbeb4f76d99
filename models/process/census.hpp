#pragma once
// All that the kernel keeps for a process, and what becomes of it where a program is captured and brought back: one row
// for each. docs/process.md has this table; tests hold it to the page, and each row to its test.
#include <span>
#include <string>

namespace perdure::process {

enum class Fate {
  kept,     ///< it is as it was
  refused,  ///< the capture is refused by name, and the program goes on as it was
  lost      ///< the program comes back without
};

struct StateKind {
  const char* name;
  const char* asked;  ///< how it is known that a process has it
  Fate fate;
  const char* how;  ///< it is kept, or why not
  const char*
      test;  ///< "Suite.Test" of the tests of this module; empty: it is lost, and nobody can see that it was there
};

std::span<const StateKind> census();
/// As docs/process.md has it (Markdown).
std::string census_table();

}  // namespace perdure::process
