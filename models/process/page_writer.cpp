#include "process/page_writer.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "os/affinity.hpp"
#include "os/thread.hpp"
#include "process/memory_policy.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kPartsOfACall = 512;  // the kernel accepts 1024
// Threads for one node. With more, they wait for each other where the kernel enters pages.
constexpr std::size_t kMostWriters = 4;
constexpr std::uint64_t kLeastBytesOfAWriter = 8 * base::MiB;

os::CpuSet cpus_on(const MachineImage& machine, std::uint32_t node) {
  os::CpuSet cpus;
  const auto at = std::find(machine.numbers.begin(), machine.numbers.end(), node);
  if (at == machine.numbers.end()) return cpus;
  for (const auto& core : machine.machine.nodes[static_cast<std::size_t>(at - machine.numbers.begin())].cores)
    for (const unsigned cpu : core) cpus = cpus | os::CpuSet{cpu};
  return cpus;
}

/// Sets the policy of the calling thread for the rest of its life. Returns false if the kernel refuses it.
bool prefer_node(std::uint32_t node) {
  const auto words = node_words({node});
  return ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, words.data(), words.size() * 64) == 0;
}

}  // namespace

std::vector<std::uint64_t> huge_blocks(const ProcessImage& image, const Placement& placement) {
  struct Block {
    std::uint64_t pages = 0;
    std::uint32_t node = 0;
    bool mixed = false;
  };
  std::map<std::uint64_t, Block> blocks;
  for (const NodePages& pages : image.all_pages()) {
    const auto found = placement.nodes.find(pages.node);
    const std::uint32_t node = found == placement.nodes.end() ? pages.node : found->second;
    for (const PageRun& run : pages.runs)
      for (std::uint64_t at = run.begin; at < run.end();) {
        const std::uint64_t begin = at / kHugePageBytes * kHugePageBytes;
        const std::uint64_t end = std::min(run.end(), begin + kHugePageBytes);
        Block& block = blocks[begin];
        block.mixed = block.mixed || (block.pages > 0 && block.node != node);
        block.node = node;
        block.pages += (end - at) / kPageBytes;
        at = end;
      }
  }
  std::vector<std::uint64_t> huge;
  for (const auto& [begin, block] : blocks)
    if (!block.mixed && block.pages * kPageBytes >= kHugePageBytes / 2) huge.push_back(begin);
  return huge;
}

PageWriter::PageWriter(const ProcessImage& image, const Placement& placement, const MachineImage& here)

    : order_(image.all_pages()), here_(&here), no_huge_pages_(image.no_huge_pages) {
  places_ = placement.of_memory && here.numbers.size() > 1 && image.machine.known();
  std::uint64_t end = 0;
  for (const NodePages& pages : image.all_pages()) {
    Section section{end += pages.pages() * kPageBytes, std::nullopt};
    const auto found = placement.nodes.find(pages.node);
    if (places_ && found != placement.nodes.end()) section.node = found->second;
    sections_.push_back(section);
  }
  if (chooses_huge()) huge_ = huge_blocks(image, placement);
}

base::Status PageWriter::allow(bool huge, const AllowHuge& allow_huge) {
  if (!chooses_huge() || allowed_ == huge) return {};
  PERDURE_CHECK(allow_huge(huge));
  allowed_ = huge;
  return {};
}

base::Status PageWriter::end(const AllowHuge& allow_huge) { return allow(true, allow_huge); }

// Splits at huge pages, so that each writer gets some.
void PageWriter::add(Parts& small, Parts& huge, std::uint64_t address, base::ConstByteSpan bytes) const {
  for (std::uint64_t done = 0; done < bytes.size();) {
    const std::uint64_t at = address + done, block = at / kHugePageBytes * kHugePageBytes;
    const std::uint64_t length = std::min(bytes.size() - done, block + kHugePageBytes - at);
    const bool is_huge = std::binary_search(huge_.begin(), huge_.end(), block);
    (is_huge ? huge : small).push_back({at, bytes.subspan(done, length)});
    done += length;
  }
}

base::Status PageWriter::write(pid_t process, std::uint64_t begin, base::ConstByteSpan bytes,
                               const AllowHuge& allow_huge) {
  std::map<std::optional<std::uint32_t>, std::array<Parts, 2>> of_nodes;
  std::uint64_t done = 0;
  for (const Section& section : sections_) {
    if (section.end <= begin + done || done == bytes.size()) continue;
    auto& parts_of_node = of_nodes[section.node];
    const std::uint64_t length = std::min(bytes.size() - done, section.end - begin - done);
    PERDURE_CHECK(order_.for_each(begin + done, length, [&](std::uint64_t address, std::uint64_t part) {
      add(parts_of_node[false], parts_of_node[true], address, bytes.subspan(done, part));
      done += part;
      return base::Status();
    }));
  }
  for (const bool huge : {false, true})
    for (const auto& [node, parts] : of_nodes) {
      if (parts[huge].empty()) continue;
      PERDURE_CHECK(allow(huge, allow_huge));
      PERDURE_CHECK(write_on(node, process, parts[huge]));
    }
  return {};
}

// If no thread can be started, this one writes: the pages matter more than their nodes.
base::Status PageWriter::write_on(std::optional<std::uint32_t> node, pid_t process, const Parts& parts) {
  std::uint64_t bytes = 0;
  for (const Part& part : parts) bytes += part.bytes.size();
  const os::CpuSet cpus = node ? cpus_on(*here_, *node) : os::own_cpus();
  const std::size_t most = give_ ? 1
                                 : std::min({kMostWriters, parts.size(), std::max<std::size_t>(cpus.count(), 1),
                                             static_cast<std::size_t>(bytes / kLeastBytesOfAWriter + 1)});
  std::vector<base::Status> outcomes(most);
  std::atomic<bool> refused{false};
  const auto share = [&](std::size_t writer) {
    const std::size_t first = parts.size() * writer / most, last = parts.size() * (writer + 1) / most;
    return write_parts(process, parts.data() + first, last - first);
  };
  if (!node && most == 1) return share(0);
  os::Threads writers;
  for (std::size_t writer = 0; writer < most; ++writer) {
    const auto begun = writers.start(
        "write pages",
        [&, writer] {
          if (node) {
            os::use_cpus(cpus);
            if (!prefer_node(*node)) refused = true;
          }
          outcomes[writer] = share(writer);
        },
        [&, writer](const base::Error& why) {
          outcomes[writer] = base::fail(why);
          return false;
        });
    if (!begun) {
      outcomes[writer] = share(writer);
      if (node) refused = true;
    }
  }
  writers.join();
  refused_ = refused_ || refused;
  for (const auto& outcome : outcomes) PERDURE_CHECK(outcome);
  return {};
}

base::Status PageWriter::write_parts(pid_t process, const Part* parts, std::size_t count) const {
  if (give_) {
    for (std::size_t i = 0; i < count; ++i) PERDURE_CHECK(give_(parts[i].address, parts[i].bytes));
    return {};
  }
  std::array<iovec, kPartsOfACall> here, there;
  for (std::size_t done = 0; done < count;) {
    const std::size_t some = std::min(kPartsOfACall, count - done);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < some; ++i) {
      const Part& part = parts[done + i];
      here[i] = {const_cast<std::byte*>(part.bytes.data()), part.bytes.size()};  // NOLINT: it is only read
      there[i] = {reinterpret_cast<void*>(part.address), part.bytes.size()};     // NOLINT: an address there
      bytes += part.bytes.size();
    }
    const auto written = ::process_vm_writev(process, here.data(), some, there.data(), some, 0);
    if (written < 0 || static_cast<std::uint64_t>(written) != bytes)  // the error has the address
      for (std::size_t i = 0; i < some; ++i)
        PERDURE_CHECK(write_memory(process, parts[done + i].address, parts[done + i].bytes));
    done += some;
  }
  return {};
}

}  // namespace perdure::process
