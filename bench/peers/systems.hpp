#pragma once
// Lists the systems that this program was built with.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "back_end.hpp"

namespace perdure::peers_bench {

struct SystemEntry {
  std::string name;
  std::function<std::unique_ptr<BackEnd>()> make;
};

/// Whether it is linked with the fakes of bench/peers/fakes, so that its measurements are meaningless.
bool with_fakes();
const std::vector<SystemEntry>& systems();
/// Returns nullptr if this program was built without the system.
std::unique_ptr<BackEnd> make_back_end(const std::string& name);

std::unique_ptr<BackEnd> perdure_back_end();
std::unique_ptr<BackEnd> veloc_back_end();
std::unique_ptr<BackEnd> scr_back_end();
std::unique_ptr<BackEnd> fti_back_end();

}  // namespace perdure::peers_bench
