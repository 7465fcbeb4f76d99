#pragma once
// Makes hosts with their own addresses: network namespaces on one switch, each held by a process. They have no names
// outside, and end with those processes, which end with the test, however it ends.
#include <memory>
#include <string>
#include <vector>

namespace perdure::test_support {

class Hosts {
 public:
  /// With `own_names` each has a host name, too, so that nobody takes them for one machine. Returns null if this
  /// process may not make them or there is no `ip`; `why_not` gets the failure.
  static std::unique_ptr<Hosts> make(int count, bool own_names, std::string& why_not);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  static std::string address(int host);    ///< "10.77.0.1" and so on
  static std::string host_name(int host);  ///< only with `own_names`
  /// Moves this process, which must have only one thread, to the host. Ends the process on failure.
  void enter(int host) const;
  /// Unplugs or plugs in its cable. Returns false on failure.
  bool set_link(int host, bool up) const;
  /// Returns the bytes that this process's host has received over its cable.
  static std::uint64_t bytes_received();

 private:
  struct Holder {
    int pid = -1;
    int network = -1, name = -1;  // descriptors of its namespaces
  };
  Hosts() = default;
  bool hold(const std::string& name, std::string& why_not);
  bool plug_in(int count, std::string& why_not) const;
  static bool ip(const Holder& where, const std::string& arguments);

  std::vector<Holder> holders_;  // the switch, then the hosts
};

}  // namespace perdure::test_support
