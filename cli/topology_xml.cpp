#include "cli/topology_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace perdure::cli {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// Writes sets as hwloc does: words of 32 bits, the highest first.
std::string set_text(const Numbers& numbers) {
  if (numbers.empty()) return "0x0";
  std::vector<std::uint32_t> words(*std::max_element(numbers.begin(), numbers.end()) / 32 + 1);
  for (const auto number : numbers) words[number / 32] |= 1U << (number % 32);
  std::string text;
  for (std::size_t i = words.size(); i-- > 0;)
    text += (text.empty() ? "" : ",") + (words[i] == 0 ? std::string("0x0") : fmt::format("0x{:08x}", words[i]));
  return text;
}

class TopologyText {
 public:
  std::string of(const affinity::MachineImage& image) {
    text_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
        "version=\"2.0\">\n";
    const Numbers all = affinity::cpus_of(image);
    begin("Machine", 0, all, image.numbers,
          " allowed_cpuset=\"" + set_text(all) + "\" allowed_nodeset=\"" + set_text(image.numbers) + "\"");
    for (std::size_t n = 0; n < image.numbers.size(); ++n)
      if (image.machine.nodes[n].cores.empty()) add_memory(image, n, {});
    for (std::size_t n = 0; n < image.numbers.size(); ++n) add_group(image, n);
    end();
    add_distances(image);
    return text_ + "</topology>\n";
  }

 private:
  void indent() { text_.append(2 * ++depth_, ' '); }
  void begin(const std::string& type, std::uint32_t number, const Numbers& cpus, const Numbers& nodes,
             const std::string& more = "") {
    indent();
    const std::string cpuset = set_text(cpus), nodeset = set_text(nodes);
    text_ += fmt::format(
        "<object type=\"{}\" os_index=\"{}\" cpuset=\"{}\" complete_cpuset=\"{}\"{} nodeset=\"{}\" "
        "complete_nodeset=\"{}\" gp_index=\"{}\"",
        type, number, cpuset, cpuset, more, nodeset, nodeset, ++objects_);
    text_ += type == "Group" ? " kind=\"1\" subkind=\"0\">\n" : ">\n";
  }
  void end() {
    text_.append(2 * depth_--, ' ');
    text_ += "</object>\n";
  }
  void add_memory(const affinity::MachineImage& image, std::size_t n, const Numbers& cpus) {
    indent();
    const std::string cpuset = set_text(cpus), nodeset = set_text({image.numbers[n]});
    text_ += fmt::format(
        "<object type=\"NUMANode\" os_index=\"{}\" cpuset=\"{}\" complete_cpuset=\"{}\" nodeset=\"{}\" "
        "complete_nodeset=\"{}\" gp_index=\"{}\" local_memory=\"{}\"/>\n",
        image.numbers[n], cpuset, cpuset, nodeset, nodeset, ++objects_, image.machine.nodes[n].bytes);
    --depth_;
  }
  void add_group(const affinity::MachineImage& image, std::size_t n) {
    const auto& node = image.machine.nodes[n];
    if (node.cores.empty()) return;
    Numbers cpus;
    for (const auto& core : node.cores) cpus.insert(cpus.end(), core.begin(), core.end());
    const Numbers here = {image.numbers[n]};
    // hwloc has no group that is all of the machine.
    const bool grouped = affinity::cpus_of(image).size() > cpus.size();
    if (grouped) begin("Group", static_cast<std::uint32_t>(n), cpus, here);
    add_memory(image, n, cpus);
    for (const auto& core : node.cores) {
      begin("Core", cores_++, Numbers(core.begin(), core.end()), here);
      for (const unsigned cpu : core) {
        begin("PU", cpu, {cpu}, here);
        end();
      }
      end();
    }
    if (grouped) end();
  }
  void add_distances(const affinity::MachineImage& image) {
    const auto& rows = image.machine.distances;
    if (rows.size() < 2) return;
    std::string indexes, values;
    for (const auto number : image.numbers) indexes += fmt::format("{} ", number);
    for (const auto& row : rows)
      for (const auto distance : row) values += fmt::format("{} ", distance);
    text_ += fmt::format(
        "  <distances2 type=\"NUMANode\" nbobjs=\"{}\" kind=\"5\" name=\"NUMALatency\" indexing=\"os\">\n"
        "    <indexes length=\"{}\">{}</indexes>\n    <u64values length=\"{}\">{}</u64values>\n  </distances2>\n",
        rows.size(), indexes.size(), indexes, values.size(), values);
  }

  std::string text_;
  std::size_t depth_ = 0;
  std::uint32_t objects_ = 0, cores_ = 0;
};

}  // namespace

std::string topology_xml(const affinity::MachineImage& machine) { return TopologyText().of(machine); }

}  // namespace perdure::cli
