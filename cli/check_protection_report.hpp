#pragma once
// Reports the result of `perdure run --check-protection` to people and programs.
#include "base/cbor.hpp"
#include "cli/libraries.hpp"
#include "inspect/check_protection_verdict.hpp"

namespace perdure::cli {

/// Writes a table of the regions that differ, the regions that do not, and the verdict; lines end with a new line.
std::string report_text(const CheckFacts& facts, const ProtectionVerdict& verdict);

base::Json report_json(const CheckFacts& facts, const ProtectionVerdict& verdict);
/// Writes the report of a check that came to no end.
base::Json report_json(const base::Error& error);

}  // namespace perdure::cli
