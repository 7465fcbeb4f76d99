#include "inspect/prune_quarantine.hpp"

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "inspect/checkpoints.hpp"
#include "inspect/residue.hpp"
#include "os/file.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/segment.hpp"

namespace perdure::inspect {
namespace {

constexpr std::string_view kMoving = ".moving", kEnding = ".pds";

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The report goes last: without it, no segment counts as quarantined.
base::Status remove_quarantined(const std::string& path) {
  PERDURE_CHECK(os::remove_file(path));
  PERDURE_CHECK(os::remove_file(path + ".json"));
  return os::sync_directory(path.substr(0, path.rfind('/')));
}

base::Result<QuarantinedName> known_of(store::Store& store, const std::string& name,
                                       const std::vector<std::string>& names) {
  PERDURE_TRY(const auto aside, store.set_aside(name));
  QuarantinedName known{false, !aside.empty()};
  if (std::find(names.begin(), names.end(), name) == names.end()) return known;
  PERDURE_TRY(const auto versions, reader::inventory(store, name));
  known.has_whole = std::any_of(versions.begin(), versions.end(), [](const auto& one) { return one.complete(); });
  return known;
}

std::string why_of(const Residue& piece) {
  return base::get_text(piece.report, "why", piece.path).value_or("in quarantine, without a report");
}

}  // namespace

// The name may have dots, and so has the segment's file name.
std::string name_of_quarantined(const std::string& file) {
  const std::size_t end = file.rfind(kEnding);
  if (end == std::string::npos) return {};
  const std::string whole = file.substr(0, end + kEnding.size());
  for (std::size_t dot = whole.find('.'); dot != std::string::npos; dot = whole.find('.', dot + 1)) {
    if (!segment::parse_file_name(std::string_view(whole).substr(dot + 1))) continue;
    const std::size_t before = whole.rfind('.', dot - 1);
    const std::string name = dot == 0 || before == std::string::npos ? std::string() : whole.substr(0, before);
    return segment::check_name(name) ? name : std::string();
  }
  return {};
}

bool may_be_emptied(const QuarantinedName& name) { return name.has_whole || !name.counts; }

base::Status plan_quarantine(store::Store& store, const std::set<std::string>& names, PrunePlan& plan) {
  PERDURE_TRY(const auto there, store.names());
  PERDURE_TRY(auto pieces, find_quarantined(store));
  std::set<std::string> known_names(there.begin(), there.end());
  for (Residue& piece : pieces) {
    piece.name = name_of_quarantined(file_of(piece.path));  // as the store judges it, whatever the report says
    known_names.insert(piece.name);
  }
  for (const std::string& name : names)
    if (!known_names.contains(name)) return base::fail(no_such_checkpoint(store, {name, std::nullopt}));
  std::map<std::string, bool> emptied;
  for (const Residue& piece : pieces) {
    if (!names.empty() && !names.contains(piece.name)) continue;
    if (piece.path.ends_with(kMoving)) {
      plan.refused.push_back(piece.path + " is kept: it is being set aside, or put back by perdure prune --leftovers");
      continue;
    }
    if (!emptied.contains(piece.name)) {
      QuarantinedName known;
      if (!piece.name.empty()) {
        PERDURE_TRY(known, known_of(store, piece.name, there));
      }
      emptied[piece.name] = may_be_emptied(known);
      if (!may_be_emptied(known))
        plan.refused.push_back(piece.name + ": its quarantine is kept, as nothing else is left of it that is whole; " +
                               "perdure forget " + piece.name + " makes it a first start");
    }
    if (!emptied[piece.name]) continue;
    plan.actions.push_back(
        {piece.path, why_of(piece), piece.bytes, [path = piece.path] { return remove_quarantined(path); }});
  }
  return {};
}

}  // namespace perdure::inspect
