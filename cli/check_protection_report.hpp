#pragma once
// What `perdure run --check-protection` tells people and programs.
#include "base/cbor.hpp"
#include "cli/libraries.hpp"
#include "inspect/check_protection_verdict.hpp"

namespace perdure::cli {

/// A table of the regions that differ, the regions that do not, and the verdict; lines end with a new line.
std::string report_text(const CheckFacts& facts, const ProtectionVerdict& verdict);

base::Json report_json(const CheckFacts& facts, const ProtectionVerdict& verdict);
/// The same where the check came to no end.
base::Json report_json(const base::Error& error);

}  // namespace perdure::cli
