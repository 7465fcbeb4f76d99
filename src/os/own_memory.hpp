#pragma once
// Asks the kernel about this process's own memory, and reads memory that may be unmapped.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

/// Addresses [begin, end).
struct AddressRange {
  std::uint64_t begin = 0, end = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// Returns memory that is private, anonymous, writable, no stack, and of the usual page size. The ranges ascend, and
/// adjacent ones are merged. They cover all such memory `within`, and perhaps more.
base::Result<std::vector<AddressRange>> private_memory(std::span<const AddressRange> within);
/// Returns the same with one query per mapping, which is faster for few ranges. Nothing: this kernel has no such query.
std::optional<std::vector<AddressRange>> asked_private_memory(std::span<const AddressRange> within);
/// Returns the same from the text of /proc/PID/maps. It skips malformed lines.
std::vector<AddressRange> private_memory_in(const std::string& maps);

/// Returns how many bytes devices may write without asking the processor (RDMA, registered buffers of io_uring). 0 if
/// the kernel does not say.
std::uint64_t pinned_bytes();

/// Returns the path of a device that this process has open and whose driver (NVIDIA's) hides pinned memory from the
/// kernel's count. Empty if there is none.
std::string silent_device();
/// Whether a driver of that kind is behind this path.
bool pins_silently(std::string_view path);

/// Whether all of [begin, begin + bytes) is mapped, readable or not. Its cost grows with the number of mappings, not of
/// pages.
bool is_mapped(std::uint64_t begin, std::uint64_t bytes);
/// Returns the index of a range that is not wholly mapped; nothing if all are. `ascending` is sorted by begin, without
/// empty ranges; they may overlap. Neighbouring ranges take one query if the memory between them is mapped, too.
std::optional<std::size_t> first_unmapped(std::span<const AddressRange> ascending);

/// Copies `bytes` bytes at `from`. Returns 0, or an error number if it cannot read `from` or write `to`; raises no
/// signal. Allocates nothing.
int copy_own_memory(std::uint64_t from, std::byte* to, std::uint64_t bytes);

}  // namespace perdure::os
