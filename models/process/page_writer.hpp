#pragma once
// Writes pages of an image to a new process, each on its NUMA node.
#include <functional>
#include <optional>
#include <vector>

#include "os/cpu_set.hpp"
#include "process/image_source.hpp"
#include "process/placement.hpp"

namespace perdure::process {

inline constexpr std::uint64_t kHugePageBytes = 2 * base::MiB;

/// Returns the addresses of huge pages, ascending, that may be made as such. At least half of each has content, all of
/// it on one node of `placement`. The kernel would allocate other ones entirely on the node of the page that is written
/// first. Pure.
std::vector<std::uint64_t> huge_blocks(const ProcessImage& image, const Placement& placement);

/// For a page that another process writes, the kernel uses the policy of the mapping, which is none yet. Then it uses
/// the policy of the writing thread. So threads of ours write each page: they run on its node, and prefer its memory.
/// The calling thread is not changed.
class PageWriter {
 public:
  /// Permits or forbids huge pages in the process from now on.
  using AllowHuge = std::function<base::Status(bool)>;
  /// Pages whose node is not in `placement` go wherever the kernel puts them.
  PageWriter(const ProcessImage& image, const Placement& placement, const MachineImage& here);

  /// From now on the same threads pass pages to `give`, and choose no huge pages.
  using Give = std::function<base::Status(std::uint64_t address, base::ConstByteSpan bytes)>;
  void give_by(Give give) { give_ = std::move(give); }
  /// `bytes` begin at position `begin` of all pages (ProcessImage::all_pages).
  base::Status write(pid_t process, std::uint64_t begin, base::ConstByteSpan bytes, const AllowHuge& allow_huge);
  /// Call it after the last page. It restores the process's setting for huge pages.
  base::Status end(const AllowHuge& allow_huge);
  /// The kernel refused our threads a node, for example because of a control group.
  bool refused() const { return refused_; }

 private:
  struct Section {
    std::uint64_t end = 0;              // its end among the bytes of all pages
    std::optional<std::uint32_t> node;  // on this machine
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
  std::optional<bool> allowed_;  // the last setting for the process
  Give give_;
};

}  // namespace perdure::process
