#pragma once
// Finds the descriptors that can be read or written now. The cost does not grow with the number of the others (with
// poll(), 256 idle connections cost 60 us at every look).
#include <cstdint>
#include <optional>
#include <vector>

#include "os/file.hpp"

namespace perdure::os {

/// Not thread-safe. A descriptor has to be removed before it is closed: a duplicate in a child would keep it here.
class Readiness {
 public:
  struct Event {
    std::uint64_t number = 0;  ///< that the descriptor was added with
    bool readable = false;     ///< also when its other end is gone
    bool writable = false;
  };
  enum class Interest { read, read_and_write };

  /// Every later call returns the error where the process can open no further descriptor.
  Readiness();
  base::Status add(const Fd& fd, std::uint64_t number);
  void change(const Fd& fd, std::uint64_t number, Interest interest);
  void remove(const Fd& fd);
  /// Waits for at least one event, at most for the given time; none also when a signal came. What was ready first comes
  /// first. Of very many some come with the next call.
  base::Result<std::vector<Event>> wait(std::optional<std::uint64_t> timeout_ns) const;

 private:
  base::Status is_there() const;

  Fd fd_;
  int error_ = 0;  ///< errno, where the kernel gave no descriptor
};

}  // namespace perdure::os
