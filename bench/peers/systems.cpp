#include "systems.hpp"

namespace perdure::peers_bench {

bool with_fakes() {
#ifdef PERDURE_PEERS_FAKES
  return true;
#else
  return false;
#endif
}

const std::vector<SystemEntry>& systems() {
  static const std::vector<SystemEntry> all{
      {"perdure", perdure_back_end},
#ifdef PERDURE_PEERS_VELOC
      {"veloc", veloc_back_end},
#endif
#ifdef PERDURE_PEERS_SCR
      {"scr", scr_back_end},
#endif
#ifdef PERDURE_PEERS_FTI
      {"fti", fti_back_end},
#endif
  };
  return all;
}

std::unique_ptr<BackEnd> make_back_end(const std::string& name) {
  for (const SystemEntry& one : systems())
    if (one.name == name) return one.make();
  return nullptr;
}

}  // namespace perdure::peers_bench
