#pragma once
// What single options accept, where a type and a range cannot express it. A check returns nullptr, or the reason for
// refusing.
#include <string>
#include <string_view>

namespace perdure::config {

const char* refuse_empty(std::string_view value);
/// 1 to 128 characters; the name may become part of a message or a title, never of a path.
const char* refuse_job(std::string_view value);
/// At most 128 characters.
const char* refuse_long(std::string_view value);
/// "a|b": the names in placement's and redundancy's registries.
std::string placement_policies();
std::string redundancy_schemes();
/// At least one tier, none twice, each with options of its own in the table.
const char* refuse_tier_order(std::string_view value);
/// At least one step, none twice. Which steps there are, and which order can work, only the engine knows.
const char* refuse_pipeline(std::string_view value);
/// "node", "rank", or a number of segments from 1 to a million.
const char* refuse_segment_per(std::string_view value);
/// "auto", "all", "reserve=N", or a list of processors (engine_cpus.hpp).
const char* refuse_engine_cpus(std::string_view value);
/// Nothing, or distinct whole numbers.
const char* refuse_node_numbers(std::string_view value);

}  // namespace perdure::config
