#pragma once
// What the kernel offers to who gives a process its pages when it first touches them (userfaultfd): the calls alone.
#include <linux/userfaultfd.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::process {

/// What became of an attempt to give a process pages.
enum class Given {
  all,
  some,      ///< the first ones
  there,     ///< the first one is there already
  not_now,   ///< the kernel waits for us to read an event
  no_memory  ///< nothing is followed there (any more)
};

/// Of the first of `bytes`: how many, and how that ended. Nothing: the process has no memory any more.
struct GivenPages {
  Given given = Given::all;
  std::uint64_t bytes = 0;
};
base::Result<std::optional<GivenPages>> give_pages(int faults, std::uint64_t address, base::ConstByteSpan bytes);
/// A page of zeros. `some` is not one of its answers.
base::Result<std::optional<Given>> give_zeros(int faults, std::uint64_t page);
/// The threads that wait there look again.
void wake(int faults, std::uint64_t page);

/// The process of `faults` has no memory any more: nobody reads or writes a page of it.
bool is_gone(int faults);
/// Whether threads that touch what is missing there wait for us, from now on. An error number.
int follow_missing(int faults, std::uint64_t begin, std::uint64_t end);
int follow_no_more(int faults, std::uint64_t begin, std::uint64_t end);

/// What has come since. Whoever moves or drops memory goes on when this returns.
std::vector<uffd_msg> read_events(int faults);

/// Kills the process, and those that it forked and that wait for pages, too; returns when all memory of `faults` is
/// gone, so that the descriptors may be closed: a thread that waits would go on with a page of zeros else.
void end_unserved(pid_t number, int process, const std::vector<int>& faults);

}  // namespace perdure::process
