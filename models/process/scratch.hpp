#pragma once
// A little memory of a process that stands still, for answers that the kernel writes to the memory of who asks. What
// was in it is put back.
#include "process/memory_maps.hpp"
#include "process/remote_memory.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

class Scratch {
 public:
  static constexpr std::size_t kBytes = 1024;

  /// Below what `thread` uses of its stack, where the kernel may put a signal's frame at any time; else in any memory
  /// of the process's own. PERDURE_UNSUPPORTED: it has none that it may write.
  static base::Result<Scratch> of(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  std::uint64_t address() const { return address_; }
  /// What `call` of the thread came to; below 0: an error number.
  base::Result<std::int64_t> ask(const SystemCall& call) { return tracee_->ask(thread_, call); }
  /// What it wrote to address() + `offset`.
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
