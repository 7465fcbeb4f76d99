#pragma once
// Pages of an image, as they come, into a process in the making: each onto the node of memory that it belongs to.
#include <functional>
#include <optional>
#include <vector>

#include "os/cpu_set.hpp"
#include "process/image_source.hpp"
#include "process/placement.hpp"

namespace perdure::process {

inline constexpr std::uint64_t kHugePageBytes = 2 * base::MiB;

/// Addresses of those huge pages, ascending, that may be made as such: at least half of each has content, all of it on
/// one node of `placement`. The kernel would take the others whole from the node of whichever page is written first.
/// Pure.
std::vector<std::uint64_t> huge_blocks(const ProcessImage& image, const Placement& placement);

/// The kernel takes memory for a page that another process writes by the policy of the mapping, which is none yet, and
/// then by that of the thread that writes. So each page is written by a thread of ours that runs on its node and
/// prefers its memory; whoever calls is left as it is.
class PageWriter {
 public:
  /// Says whether the process may have huge pages from now on.
  using AllowHuge = std::function<base::Status(bool)>;
  /// Of pages that `placement` has no nodes for: wherever the kernel puts them.
  PageWriter(const ProcessImage& image, const Placement& placement, const MachineImage& here);

  /// From now on pages go to `give`, from the same threads, and huge ones are not chosen any more.
  using Give = std::function<base::Status(std::uint64_t address, base::ConstByteSpan bytes)>;
  void give_by(Give give) { give_ = std::move(give); }
  /// `bytes`: those from `begin` on of all pages (ProcessImage::all_pages).
  base::Status write(pid_t process, std::uint64_t begin, base::ConstByteSpan bytes, const AllowHuge& allow_huge);
  /// After the last one: huge pages are as the process had them.
  base::Status end(const AllowHuge& allow_huge);
  /// The kernel refused a node of memory to our threads (a control group may).
  bool refused() const { return refused_; }

 private:
  struct Section {
    std::uint64_t end = 0;              // of its bytes among all pages
    std::optional<std::uint32_t> node;  // here
  };
  struct Part {
    std::uint64_t address = 0;
    base::ConstByteSpan bytes;
  };
  using Parts = std::vector<Part>;
  bool chooses_huge() const { return places_ && !no_huge_pages_ && !give_; }
  void add(Parts& small, Parts& huge, std::uint64_t address, base::ConstByteSpan bytes) const;
  base::Status allow(bool huge, const AllowHuge& allow_huge);
  base::Status write_on(std::optional<std::uint32_t> node, pid_t process, const Parts& parts);
  base::Status write_parts(pid_t process, const Part* parts, std::size_t count) const;

  PageOrder order_;
  std::vector<Section> sections_;
  std::vector<std::uint64_t> huge_;
  const MachineImage* here_;
  bool places_ = false, no_huge_pages_ = false, refused_ = false;
  std::optional<bool> allowed_;  // what the process was told last
  Give give_;
};

}  // namespace perdure::process
