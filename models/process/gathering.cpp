#include "process/gathering.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <span>

#include "os/affinity.hpp"
#include "os/thread.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

constexpr unsigned kMostCopiers = 4;
constexpr std::size_t kPartsAtOnce = 512;  // the kernel takes 1024
constexpr std::uint64_t kBytesAtOnce = 1 * base::MiB;
constexpr std::uint64_t kPerThread = 4 * base::MiB;  // to begin a thread takes as long as to copy some hundred KiB

/// Cut so that no part is longer than what is copied at once.
std::vector<GatheredPart> short_parts(const std::vector<GatheredPart>& parts) {
  std::vector<GatheredPart> all;
  for (const GatheredPart& part : parts)
    for (std::uint64_t done = 0; done < part.length; done += kBytesAtOnce)
      all.push_back({part.address + done, std::min(kBytesAtOnce, part.length - done), part.target + done});
  return all;
}

void gather_some(pid_t process, std::span<const GatheredPart> parts, std::vector<GatheredPart>& failed) {
  std::vector<iovec> here, there;
  std::uint64_t bytes = 0;
  std::size_t first = 0;
  const auto copy = [&](std::size_t end) {
    const auto got = ::process_vm_readv(process, here.data(), here.size(), there.data(), there.size(), 0);
    if (got < 0 || static_cast<std::uint64_t>(got) != bytes)
      for (const GatheredPart& part : parts.subspan(first, end - first))
        if (!read_memory(process, part.address, {part.target, part.length})) failed.push_back(part);
    here.clear();
    there.clear();
    bytes = 0;
    first = end;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    here.push_back({parts[i].target, parts[i].length});
    there.push_back({reinterpret_cast<void*>(parts[i].address), parts[i].length});  // NOLINT: an address there
    bytes += parts[i].length;
    if (here.size() == kPartsAtOnce || bytes >= kBytesAtOnce) copy(i + 1);
  }
  if (!here.empty()) copy(parts.size());
}

}  // namespace

unsigned copying_threads() { return std::clamp(static_cast<unsigned>(os::own_cpus().count()), 1U, kMostCopiers); }

base::Result<std::vector<GatheredPart>> gather(pid_t process, const std::vector<GatheredPart>& parts,
                                               unsigned threads) {
  const auto all = short_parts(parts);
  std::uint64_t left = 0;
  for (const GatheredPart& part : all) left += part.length;
  threads = static_cast<unsigned>(std::clamp<std::uint64_t>(left / kPerThread, 1, threads));
  std::vector<std::vector<GatheredPart>> failed(threads);
  std::vector<base::Status> outcomes(threads);
  os::Threads others;
  std::size_t begin = 0;
  base::Status begun;
  for (unsigned thread = 0; thread < threads && begun; ++thread) {
    std::size_t end = begin;
    for (std::uint64_t share = left / (threads - thread); end < all.size() && share > 0; ++end) {
      const std::uint64_t length = all[end].length;
      left -= length;
      share -= std::min(share, length);
    }
    if (thread + 1 == threads) end = all.size();
    const auto its = std::span(all).subspan(begin, end - begin);
    begin = end;
    if (thread + 1 == threads) {
      gather_some(process, its, failed[thread]);
      break;
    }
    begun = others.start(
        "copy pages", [&failed, process, its, thread] { gather_some(process, its, failed[thread]); },
        [&outcomes, thread](const base::Error& why) {
          outcomes[thread] = base::fail(why);
          return false;
        });
  }
  others.join();
  PERDURE_CHECK(begun);
  std::vector<GatheredPart> all_failed;
  for (unsigned thread = 0; thread < threads; ++thread) {
    PERDURE_CHECK(outcomes[thread]);
    all_failed.insert(all_failed.end(), failed[thread].begin(), failed[thread].end());
  }
  return all_failed;
}

}  // namespace perdure::process
