#pragma once
// Wraps the userfaultfd calls that give a process its pages on first access.
#include <linux/userfaultfd.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::process {

/// The outcome of giving a process pages.
enum class Given {
  all,
  some,      ///< only the first ones
  there,     ///< the first one is already present
  not_now,   ///< the kernel waits until we read an event
  no_memory  ///< the address is not followed (any more)
};

/// How many of the bytes were given, from the first on, and the outcome. Nothing: the process has no memory any more.
struct GivenPages {
  Given given = Given::all;
  std::uint64_t bytes = 0;
};
base::Result<std::optional<GivenPages>> give_pages(int faults, std::uint64_t address, base::ConstByteSpan bytes);
/// Gives a page of zeros. Never returns `some`.
base::Result<std::optional<Given>> give_zeros(int faults, std::uint64_t page);
/// Lets threads that wait for this page retry.
void wake(int faults, std::uint64_t page);

/// Returns whether the process of `faults` has no memory any more, so that it cannot access a page.
bool is_gone(int faults);
/// Makes threads wait for us when they touch missing pages. Returns 0 or an error number.
int follow_missing(int faults, std::uint64_t begin, std::uint64_t end);
int follow_no_more(int faults, std::uint64_t begin, std::uint64_t end);

/// Returns events since the last call. Threads that move or drop memory continue once their event is read.
std::vector<uffd_msg> read_events(int faults);

/// Kills the process, and its forks that wait for pages. Returns when all memory of `faults` is gone, so that the
/// descriptors may be closed. Closed earlier, a waiting thread would continue with a page of zeros.
void end_unserved(pid_t number, int process, const std::vector<int>& faults);

}  // namespace perdure::process
