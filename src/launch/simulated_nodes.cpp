// Launches on simulated nodes: the ranks find out by themselves which of the numbers is theirs (session/nodes).
#include "launch/node_kind.hpp"
#include "plan/node_assignment.hpp"

namespace perdure::launch {
namespace {

class SimulatedKind : public NodeKind {
 public:
  explicit SimulatedKind(SimulatedNodes all) : all_(std::move(all)) {}

  std::vector<std::string> nodes() const override {
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < all_.positions + all_.spares; ++i) names.push_back(std::to_string(i));
    return names;
  }
  base::Result<Launch> launch_on(Launch launch, const std::vector<std::string>& positions) override {
    set_variable(launch.environment, "PERDURE_NODE_NUMBERS", listed(positions, ","));
    if (positions.size() < all_.positions) {
      const auto share = plan::share_of_node(all_.positions * all_.ranks_per_node, positions.size());
      set_variable(launch.environment, "PERDURE_NODE_RANKS_PER_NODE", std::to_string(share));
    }
    return launch;
  }
  std::vector<std::string> probe(const std::string& node) const override {
    if (all_.failed_directory.empty()) return {"true"};
    return {"test", "!", "-e", all_.failed_directory + "/" + node};
  }

 private:
  SimulatedNodes all_;
};

}  // namespace

std::unique_ptr<NodeKind> make_simulated_nodes(SimulatedNodes nodes) {
  return std::make_unique<SimulatedKind>(std::move(nodes));
}

void set_variable(Environment& environment, const std::string& name, const std::string& value) {
  for (auto& [key, current] : environment)
    if (key == name) {
      current = value;
      return;
    }
  environment.emplace_back(name, value);
}

std::string listed(const std::vector<std::string>& names, const char* separator) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

}  // namespace perdure::launch
