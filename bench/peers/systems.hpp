#pragma once
// The systems that this program was built with.
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

/// Linked with the fakes of bench/peers/fakes: what it measures says nothing about any system.
bool with_fakes();
const std::vector<SystemEntry>& systems();
/// nullptr: this program was built without it.
std::unique_ptr<BackEnd> make_back_end(const std::string& name);

std::unique_ptr<BackEnd> perdure_back_end();
std::unique_ptr<BackEnd> veloc_back_end();
std::unique_ptr<BackEnd> scr_back_end();
std::unique_ptr<BackEnd> fti_back_end();

}  // namespace perdure::peers_bench
