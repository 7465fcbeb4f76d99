#pragma once
// Lists the network interfaces of this node.
#include <optional>
#include <string>
#include <vector>

namespace perdure::os {

struct Interface {
  std::string name;     ///< "lo", "ib0"
  std::string address;  ///< numeric
};

/// Returns every address of every interface that is up, IPv4 first, without link-local ones. Empty if the system does
/// not say.
std::vector<Interface> interfaces();

/// Returns the first address of the interface of this name; nothing if no interface of that name is up.
std::optional<std::string> address_of_interface(const std::string& name);

}  // namespace perdure::os
