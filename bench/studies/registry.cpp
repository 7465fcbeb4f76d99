#include "study.hpp"

namespace perdure::studies {

const std::vector<Study>& studies() {
  static const std::vector<Study> kStudies = {
      {"model", "accuracy of the device models (Fig. 3)", run_model},
      {"weak", "more writers with 4 chunks each on one node (Fig. 4)", run_weak},
      {"strong", "64 GiB of one node divided among more writers (Fig. 5)", run_strong},
      {"cache", "larger caches with 16 and 64 writers (Fig. 6)", run_cache},
      {"horizontal", "more nodes that share the store (Fig. 7)", run_horizontal},
      {"application", "increase in run time against a synchronous writer (Fig. 8)", run_application},
  };
  return kStudies;
}

base::Result<const Study*> find_study(const std::string& name) {
  std::string known;
  for (const Study& study : studies()) {
    if (study.name == name) return &study;
    known += std::string(known.empty() ? "" : ", ") + study.name;
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, "study '" + name.substr(0, 100) + "'", "there are " + known);
}

}  // namespace perdure::studies
