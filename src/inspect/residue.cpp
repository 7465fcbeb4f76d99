#include "inspect/residue.hpp"

#include "base/json.hpp"

namespace perdure::inspect {
namespace {

/// Passes on the fields of a report that we know, and nothing else in that file.
base::Json flat(const base::Json& report) {
  base::Json known = base::Json::object();
  if (!report.is_object()) return nullptr;
  for (const char* key : {"what", "name", "version", "why", "code", "offset", "when"})
    if (auto it = report.find(key); it != report.end() && it->is_primitive()) known[key] = *it;
  return known;
}

std::vector<Residue> told(std::vector<store::Residue> pieces) {
  std::vector<Residue> found;
  for (store::Residue& piece : pieces) {
    Residue residue;
    static_cast<store::Residue&>(residue) = std::move(piece);
    if (residue.kind == Residue::Kind::misplaced) residue.ranks = ranks_of_file(residue.path).value_or("unknown");
    if (residue.kind == Residue::Kind::quarantined) {
      residue.report = flat(base::Json::parse(residue.report_text, nullptr, false));
      residue.name = base::get_text(residue.report, "name", residue.path).value_or("");
      residue.version = base::get_u64(residue.report, "version", residue.path).value_or(0);
    }
    found.push_back(std::move(residue));
  }
  return found;
}

}  // namespace

const char* kind_name(Residue::Kind kind) {
  switch (kind) {
    case Residue::Kind::temporary:
      return "temporary";
    case Residue::Kind::retired:
      return "retired";
    case Residue::Kind::foreign:
      return "foreign";
    case Residue::Kind::misplaced:
      return "misplaced";
    case Residue::Kind::quarantined:
      return "quarantined";
  }
  return "unknown";
}

base::Result<std::vector<Residue>> find_residue(store::Store& store) {
  PERDURE_TRY(auto pieces, store.residue());
  return told(std::move(pieces));
}

base::Result<std::vector<Residue>> find_quarantined(store::Store& store) {
  PERDURE_TRY(auto pieces, store.quarantined());
  return told(std::move(pieces));
}

}  // namespace perdure::inspect
