#pragma once
// The census lists all kernel state of a process, and how a capture and a resume treat it. docs/process.md shows this
// table. Tests compare it with the page, and each row with its test.
#include <span>
#include <string>

namespace perdure::process {

enum class Fate {
  kept,     ///< a resume restores it
  refused,  ///< a process that has it is not captured; the error names it
  lost      ///< the resumed program does not have it
};

struct StateKind {
  const char* name;
  const char* asked;  ///< how Perdure learns that a process has it
  Fate fate;
  const char* how;   ///< how it is kept, or why it is not
  const char* test;  ///< "Suite.Test" in this module; empty for lost state that no test can observe
};

std::span<const StateKind> census();
/// Returns the table of docs/process.md in Markdown.
std::string census_table();

}  // namespace perdure::process
