#pragma once
// Borrows a little memory of a process that stands still. The kernel writes results of system calls there. The old
// content is restored.
#include "process/memory_maps.hpp"
#include "process/remote_memory.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

class Scratch {
 public:
  static constexpr std::size_t kBytes = 1024;

  /// Uses memory below the stack of `thread`, where the kernel may put a signal frame at any time. Otherwise it uses
  /// any private memory of the process. PERDURE_UNSUPPORTED: none of its memory is writable.
  static base::Result<Scratch> of(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  std::uint64_t address() const { return address_; }
  /// Returns the result of the thread's `call`; a negative result is an error number.
  base::Result<std::int64_t> ask(const SystemCall& call) { return tracee_->ask(thread_, call); }
  /// Returns a value that the call wrote to address() + `offset`.
  template <class T>
  base::Result<T> value(std::uint64_t offset = 0) const {
    return read_value<T>(thread_, address_ + offset);
  }
  template <class T>
  base::Status put(const T& value, std::uint64_t offset = 0) {
    return write_memory(thread_, address_ + offset, bytes_of(value));
  }

 private:
  Scratch(Tracee& tracee, pid_t thread, std::uint64_t address) : tracee_(&tracee), thread_(thread), address_(address) {}
  Tracee* tracee_;
  pid_t thread_;
  std::uint64_t address_;
  std::vector<std::byte> before_;
};

}  // namespace perdure::process
