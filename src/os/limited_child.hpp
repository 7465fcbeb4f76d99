#pragma once
// Work on what a stranger made, by code that may not survive it: a child of fork() does it, within limits, and its
// parent gets what it says by a pipe.
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
  /// `memory_bytes`: beyond what the process has when the child begins. It is not limited beside the address sanitizer,
  /// which takes terabytes of addresses.
  struct Limits {
    std::uint64_t memory_bytes = 0;
    std::uint64_t step_cpu_s = 0;  ///< processor time of one step
  };
  /// In the child: what is said, and that a step begins.
  class Output {
   public:
    Output(int pipe, std::uint64_t step_cpu_s) : pipe_(pipe), step_cpu_s_(step_cpu_s) {}
    /// Ends the child where nobody listens any more.
    void say(base::ConstByteSpan bytes);
    void step();

   private:
    int pipe_;
    std::uint64_t step_cpu_s_;
  };
  /// `work` runs in the child, with neither standard streams nor a core file, and the child ends with it: nothing that
  /// the parent registered for its own end is run.
  static base::Result<LimitedChild> start(const Limits& limits, const std::function<void(Output&)>& work);

  LimitedChild(LimitedChild&&) noexcept;
  LimitedChild& operator=(LimitedChild&&) = delete;
  /// Ends the child.
  ~LimitedChild();
  /// All of `bytes`; false where the child ended before it had said so much.
  bool hear(base::ByteSpan bytes);
  /// Waits for the end of a child that says nothing more: how it ended, as a part of a sentence ("it was ended by
  /// signal 11 (Segmentation fault)").
  std::string end();

 private:
  LimitedChild(pid_t process, Fd pipe, const Limits& limits)
      : process_(process), pipe_(std::move(pipe)), limits_(limits) {}
  pid_t process_;
  Fd pipe_;
  Limits limits_;
};

}  // namespace perdure::os
