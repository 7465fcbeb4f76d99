#pragma once
// Reads and writes memory of another process.
#include <sys/types.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::process {

/// Fills `target` from `address` on, also from pages that the process itself may not read.
base::Status read_memory(pid_t process, std::uint64_t address, base::ByteSpan target);
/// Writes memory that the process itself may write.
base::Status write_memory(pid_t process, std::uint64_t address, base::ConstByteSpan bytes);

template <class T>
base::Result<T> read_value(pid_t process, std::uint64_t address) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  PERDURE_CHECK(read_memory(process, address, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

template <class T>
base::ConstByteSpan bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace perdure::process
