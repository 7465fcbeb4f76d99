#pragma once
// The network interfaces of this node.
#include <optional>
#include <string>
#include <vector>

namespace perdure::os {

struct Interface {
  std::string name;     ///< "lo", "ib0"
  std::string address;  ///< numeric
};

/// Every address of every interface that is up, those of IPv4 first; none of those that are good within one link only.
/// None where the system does not say.
std::vector<Interface> interfaces();

/// Of the interface of this name: its first address. Nothing: no interface that is up is called so.
std::optional<std::string> address_of_interface(const std::string& name);

}  // namespace perdure::os
