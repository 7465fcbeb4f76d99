#pragma once
// Names segments in quarantine, and writes their reports. Pure, but for the time in a report.
#include <optional>
#include <string>

#include "store/store.hpp"

namespace perdure::store {

inline constexpr std::string_view kSegmentEnding = ".pds";
inline constexpr const char* kMoving = ".moving";  ///< behind the name of a segment that is on its way there

/// "<name>.<version>.<file name of the segment>"
std::string quarantined_name(const segment::VersionId& id, const std::string& file);
/// The same back, whatever number or ending is behind it. Nothing for any other name, and for other checkpoints'.
std::optional<QuarantinedSegment> parse_quarantined(std::string_view file, const std::string& name);
/// The name of a quarantined segment's report.
std::string quarantine_report(std::string file);
/// The report as JSON: which segment, why it was set aside, and when.
std::string aside_report(const std::string& path, const segment::VersionId& id, const base::Error& why);

}  // namespace perdure::store
