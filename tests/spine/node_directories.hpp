#pragma once
// Handles the files of simulated nodes: to lose them, to keep copies, and to put them back.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/config.hpp"
#include "damage.hpp"
#include "engine/host/node_directory.hpp"
#include "os/system.hpp"

namespace perdure::test_support {

/// Removes all files of this node of options_in(directory, ...): engine directory and tiers. Returns the number of
/// entries.
inline std::size_t lose_node(const std::string& directory, const std::string& options, const std::string& label) {
  config::Config config;
  EXPECT_TRUE(config.set_all(options, config::Origin::program));
  const std::string key = engine::node_key(config, label);
  std::size_t removed = 0;
  for (const char* part : {"/node", "/file"}) {
    if (!fs::exists(directory + part)) continue;
    for (const auto& entry : fs::directory_iterator(directory + part))
      if (entry.path().filename().string().starts_with(key)) removed += fs::remove_all(entry.path());
  }
  return removed;
}

inline std::size_t lose_node(const std::string& directory, const std::string& options, int number) {
  return lose_node(directory, options, os::host_name() + "#" + std::to_string(number));
}

/// A copy of all nodes of options_in(directory, ...), taken while no engine runs.
class NodesAsTheyWere {
 public:
  explicit NodesAsTheyWere(const std::string& directory) : directory_(directory), copy_(directory + "/as-they-were") {
    for (const auto& entry : fs::recursive_directory_iterator(directory_ + "/node"))
      if (entry.is_socket()) fs::remove(entry.path());  // left by dead engines; cannot be copied
    replace(directory_, copy_);
  }
  void put_back() const { replace(copy_, directory_); }

 private:
  static void replace(const std::string& from, const std::string& to) {
    fs::create_directories(to);
    for (const char* part : {"/node", "/file"}) {
      fs::remove_all(to + part);
      fs::copy(from + part, to + part, fs::copy_options::recursive);
    }
  }
  std::string directory_, copy_;
};

}  // namespace perdure::test_support
