#include "inspect/check_protection_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "inspect/checkpoints.hpp"

namespace perdure::inspect {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

base::Result<std::uint64_t> requested_point(const std::vector<Checkpoint>& written, const RestoreRequest& request) {
  std::optional<std::uint64_t> point;
  for (const Checkpoint& one : written)
    if (one.version == request.version && (request.name.empty() || one.name == request.name))
      point = std::max(point.value_or(0), one.created_ns);
  if (point) return *point;
  return base::fail(
      PERDURE_NOT_FOUND,
      "--restore-from " + (request.name.empty() ? "" : request.name + "@") + std::to_string(request.version),
      "the program wrote no such version; it wrote " + checkpoints_text(written), "name one of those");
}

/// Gives the latest of the first versions of the names that have several.
base::Result<std::uint64_t> first_point(const std::vector<Checkpoint>& written) {
  std::map<std::string, std::pair<std::uint64_t, std::size_t>> first_and_count;
  for (const Checkpoint& one : written) {
    auto& [first, count] = first_and_count.try_emplace(one.name, one.created_ns, 0).first->second;
    first = std::min(first, one.created_ns);
    ++count;
  }
  std::optional<std::uint64_t> point;
  for (const auto& [name, entry] : first_and_count)
    if (entry.second > 1) point = std::max(point.value_or(0), entry.first);
  if (point) return *point;
  return base::fail(PERDURE_NOT_FOUND, "checkpoints of the undisturbed run",
                    written.empty()
                        ? "the program wrote none that is complete in the store"
                        : "two versions of one name are needed, to go on from one and to compare the other; it wrote " +
                              checkpoints_text(written),
                    "let it run longer or checkpoint more often, and close its handle at the end");
}

}  // namespace

std::string checkpoints_text(const std::vector<Checkpoint>& checkpoints) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < checkpoints.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + checkpoints[i].text();
  if (checkpoints.size() > kMost) text += fmt::format(" and {} more", checkpoints.size() - kMost);
  return text;
}

std::string Checkpoint::text() const { return name + "@" + std::to_string(version); }

base::Result<RestoreRequest> parse_restore_request(const std::string& text) {
  const bool plain = is_number(text);
  auto spec = parse_checkpoint(plain ? "any@" + text : text);
  if (!spec || !spec->version || spec->branch)  // the branches of a check are not those of the store
    return base::fail(PERDURE_INVALID_ARGUMENT, "--restore-from " + text.substr(0, 200), "it names no version",
                      "write VERSION or NAME@VERSION, e.g. 50 or nbody@50");
  return RestoreRequest{plain ? "" : spec->name, *spec->version};
}

base::Result<std::uint64_t> restore_point(const std::vector<Checkpoint>& written,
                                          const std::optional<RestoreRequest>& request) {
  PERDURE_TRY(const std::uint64_t first, first_point(written));
  if (!request) return first;
  PERDURE_TRY(const std::uint64_t point, requested_point(written, *request));
  const bool later =
      std::any_of(written.begin(), written.end(), [&](const Checkpoint& one) { return one.created_ns > point; });
  if (later) return point;
  return base::fail(PERDURE_NOT_FOUND, "--restore-from " + std::to_string(request->version),
                    "there is no later version to compare; the program wrote " + checkpoints_text(written),
                    "name an earlier one");
}

}  // namespace perdure::inspect
