#include "launch/hosts.hpp"

#include <algorithm>

#include "config/settings.hpp"

namespace perdure::launch {
namespace {

constexpr std::string_view kSlotsEqual = "slots=";
constexpr std::string_view kBlanks = " \t\r";

struct Digits {
  std::size_t begin = std::string::npos, end = std::string::npos;  ///< npos: the line has no slots
};

// Finds the number of slots in a line: behind the host's colon, or behind " slots=".
Digits slots_in(std::string_view line) {
  const std::size_t name_end = std::min(line.find_first_of(kBlanks), line.size());
  if (const auto colon = line.find(':'); colon < name_end) return {colon + 1, name_end};
  for (std::size_t at = line.find(kSlotsEqual); at != std::string_view::npos; at = line.find(kSlotsEqual, at + 1))
    if (at > 0 && kBlanks.find(line[at - 1]) != std::string_view::npos)
      return {at + kSlotsEqual.size(), std::min(line.find_first_of(kBlanks, at), line.size())};
  return {};
}

base::Result<Host> host_of(std::string_view line, const std::string& object) {
  Host host;
  host.line = line;
  host.name = line.substr(0, line.find_first_of(" \t\r:"));
  if (host.name.empty() || host.name.front() == '-')
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "'" + host.line + "' does not begin with the name of a host");
  const Digits digits = slots_in(line);
  if (digits.begin == std::string::npos) return host;
  const std::string number(line.substr(digits.begin, digits.end - digits.begin));
  const bool whole =
      !number.empty() && number.size() <= 18 && number.find_first_not_of("0123456789") == std::string::npos;
  if (!whole || std::stoull(number) == 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "'" + number + "' is not a number of slots",
                      "a whole number from 1 on, as in " + host.name + " slots=4");
  host.slots = std::stoull(number);
  return host;
}

base::Status add(std::vector<Host>& hosts, std::string_view line, const std::string& object) {
  PERDURE_TRY(Host host, host_of(line, object));
  for (const Host& other : hosts)
    if (other.name == host.name)
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "the host " + host.name + " is there twice",
                        "name it once, with the number of its slots");
  hosts.push_back(std::move(host));
  return {};
}

}  // namespace

base::Result<std::vector<Host>> hosts_of_list(std::string_view list) {
  std::vector<Host> hosts;
  for (;;) {
    const auto comma = list.find(',');
    PERDURE_CHECK(add(hosts, config::trimmed(list.substr(0, comma)), "--hosts"));
    Host& host = hosts.back();
    // This is Open MPI's form in a hostfile.
    if (host.slots > 0) host.line = host.name + " " + std::string(kSlotsEqual) + std::to_string(host.slots);
    if (comma == std::string_view::npos) return hosts;
    list.remove_prefix(comma + 1);
  }
}

base::Result<std::vector<Host>> hosts_of_file(std::string_view text, const std::string& path) {
  std::vector<Host> hosts;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = config::trimmed(text.substr(0, end).substr(0, text.substr(0, end).find('#')));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) PERDURE_CHECK(add(hosts, line, path + " line " + std::to_string(number)));
  }
  if (hosts.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, path, "it names no host");
  return hosts;
}

std::string line_with_slots(const Host& host, std::uint64_t slots) {
  const Digits digits = slots_in(host.line);
  if (digits.begin == std::string::npos) return host.line;
  return host.line.substr(0, digits.begin) + std::to_string(slots) + host.line.substr(digits.end);
}

}  // namespace perdure::launch
