#pragma once
// What the kernel says of this process's own memory, and reading it where it may be gone.
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

/// Memory that is private, anonymous and writable, and no stack; of pages of the usual size. Ascending; what is side by
/// side is one. All of it that is `within`, and perhaps more.
base::Result<std::vector<AddressRange>> private_memory(std::span<const AddressRange> within);
/// The same by one question for each mapping: quicker where few are asked for. Nothing: this kernel answers none.
std::optional<std::vector<AddressRange>> asked_private_memory(std::span<const AddressRange> within);
/// The same of the text of /proc/PID/maps. Lines that it does not understand are left out.
std::vector<AddressRange> private_memory_in(const std::string& maps);

/// Bytes that devices may write to without asking the processor (RDMA, registered buffers of io_uring); 0 where the
/// kernel does not say.
std::uint64_t pinned_bytes();

/// The path of a device that this process has open and whose driver pins memory without the kernel's count of it
/// (NVIDIA's); empty: none.
std::string silent_device();
/// Whether a driver of that kind is behind this path.
bool pins_silently(std::string_view path);

/// Whether all of [begin, begin + bytes) is mapped. Says nothing of whether it may be read. Its cost grows with the
/// mappings, not with the pages.
bool is_mapped(std::uint64_t begin, std::uint64_t bytes);
/// The number of a range of which a part is not mapped; nothing: all is. `ascending` by their beginnings, none empty;
/// they may overlap. Ranges that are near each other take one question, where what is between them is mapped, too.
std::optional<std::size_t> first_unmapped(std::span<const AddressRange> ascending);

/// Copies what is at `from`. 0, or an error number where that cannot be read or `to` not be written: no signal.
/// Allocates nothing.
int copy_own_memory(std::uint64_t from, std::byte* to, std::uint64_t bytes);

}  // namespace perdure::os
