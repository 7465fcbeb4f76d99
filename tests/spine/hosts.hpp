#pragma once
// Hosts with addresses of their own: network namespaces on one switch, each held by a process. Nothing of them has a
// name outside, and all of it goes with those processes, which end with the test, however that ends.
#include <memory>
#include <string>
#include <vector>

namespace perdure::test_support {

class Hosts {
 public:
  /// With `own_names` each has a host name, too: then nobody takes them for one machine. Nothing where this process may
  /// not make them or there is no `ip`; `why_not` says what failed.
  static std::unique_ptr<Hosts> make(int count, bool own_names, std::string& why_not);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  static std::string address(int host);    ///< "10.77.0.1" and so on
  static std::string host_name(int host);  ///< with own names
  /// For a process with one thread: from now on it is there. Ends the process when that fails.
  void enter(int host) const;
  /// Unplugs its cable, or plugs it in. False when that fails.
  bool set_link(int host, bool up) const;
  /// Bytes that the host which this process is on got over its cable.
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
