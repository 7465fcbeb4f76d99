#include "capture/region_changes.hpp"

#include <charconv>

#include "segment/array_entry.hpp"

namespace perdure::capture {
namespace {

base::Status check_called(const std::string& region) {
  if (segment::is_region_name(region) || region_number(region) != kNoRegion) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "region '" + region.substr(0, 100) + "'", "it is no name and no number",
                    "names have 1 to 64 of the characters A-Z a-z 0-9 . _ -, beginning with a letter");
}

}  // namespace

std::int32_t region_number(const std::string& text) {
  std::int32_t number = kNoRegion;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const bool is_number = !text.empty() && text[0] != '-' && read.ec == std::errc() && read.ptr == end;
  return is_number ? number : kNoRegion;
}

base::Status RegionChanges::rename(const std::string& before, const std::string& now) {
  PERDURE_CHECK(check_called(before));
  PERDURE_CHECK(check_called(now));
  for (std::string at = now;;) {
    if (at == before)
      return base::fail(PERDURE_INVALID_ARGUMENT, "region '" + before + "'",
                        "it cannot be renamed to '" + now + "': the names would go round in a circle",
                        "give regions that change places names that no checkpoint has");
    const auto next = renamed_.find(at);
    if (next == renamed_.end()) break;
    at = next->second;
  }
  renamed_[before] = now;
  return {};
}

base::Status RegionChanges::pass_over(const std::string& region) {
  if (region == "*") {
    passes_over_all_ = true;
    return {};
  }
  PERDURE_CHECK(check_called(region));
  passed_over_.insert(region);
  return {};
}

bool RegionChanges::passes_over(const segment::RegionEntry& stored) const {
  if (passes_over_all_) return true;
  if (passed_over_.empty()) return false;
  const std::string_view name = segment::name_of(stored);
  return name.empty() ? passed_over_.contains(std::to_string(stored.id)) : passed_over_.contains(name);
}

}  // namespace perdure::capture
