#pragma once
// Checks single options beyond type and range. A check returns nullptr, or the reason for refusing.
#include <string>
#include <string_view>

namespace perdure::config {

const char* refuse_empty(std::string_view value);
/// Accepts 1 to 128 characters; the name may become part of a message or a title, never of a path.
const char* refuse_job(std::string_view value);
/// Accepts at most 128 characters.
const char* refuse_long(std::string_view value);
/// Return the names in placement's and redundancy's registries: "a|b".
std::string placement_policies();
std::string redundancy_schemes();
/// Accepts at least one tier, none twice, each with options of its own in the table.
const char* refuse_tier_order(std::string_view value);
/// Accepts at least one step, none twice. Only the engine knows its steps, and which orders work.
const char* refuse_pipeline(std::string_view value);
/// Accepts "node", "rank", or a number of segments from 1 to a million.
const char* refuse_segment_per(std::string_view value);
/// Accepts "auto", "all", "reserve=N", or a list of processors (engine_cpus.hpp).
const char* refuse_engine_cpus(std::string_view value);
/// Accepts distinct whole numbers, or none.
const char* refuse_node_numbers(std::string_view value);

}  // namespace perdure::config
