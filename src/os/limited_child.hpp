#pragma once
// Runs code that may not survive untrusted input in a child of fork(), within limits. The child reports to its parent
// through a pipe.
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "os/file.hpp"

namespace perdure::os {

class LimitedChild {
 public:
  /// `memory_bytes` counts beyond the memory at the child's start. It is not applied under the address sanitizer, which
  /// reserves terabytes of addresses.
  struct Limits {
    std::uint64_t memory_bytes = 0;
    std::uint64_t step_cpu_s = 0;  ///< processor time of one step, in seconds
  };
  /// The child writes its output, and reports that a step begins.
  class Output {
   public:
    Output(int pipe, std::uint64_t step_cpu_s) : pipe_(pipe), step_cpu_s_(step_cpu_s) {}
    /// Ends the child if nobody reads any more.
    void say(base::ConstByteSpan bytes);
    void step();

   private:
    int pipe_;
    std::uint64_t step_cpu_s_;
  };
  /// Runs `work` in a child without standard streams and core file. The child ends with `work`, and runs none of the
  /// parent's exit handlers.
  static base::Result<LimitedChild> start(const Limits& limits, const std::function<void(Output&)>& work);

  LimitedChild(LimitedChild&&) noexcept;
  LimitedChild& operator=(LimitedChild&&) = delete;
  /// Kills the child.
  ~LimitedChild();
  /// Reads exactly bytes.size() bytes; false if the child ended before it wrote them.
  bool hear(base::ByteSpan bytes);
  /// Waits for the end of a child that writes nothing more. Returns how it ended as a part of a sentence ("it was ended
  /// by signal 11 (Segmentation fault)").
  std::string end();

 private:
  LimitedChild(pid_t process, Fd pipe, const Limits& limits)
      : process_(process), pipe_(std::move(pipe)), limits_(limits) {}
  pid_t process_;
  Fd pipe_;
  Limits limits_;
};

}  // namespace perdure::os
