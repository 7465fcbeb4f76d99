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
constexpr std::size_t kPartsAtOnce = 512;  // the kernel accepts 1024
constexpr std::uint64_t kBytesAtOnce = 1 * base::MiB;
constexpr std::uint64_t kPerThread = 4 * base::MiB;  // starting a thread takes as long as copying some hundred KiB

/// Splits parts so that none exceeds kBytesAtOnce.
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

/// Divides the parts among at most `most` threads, with about as many bytes for each.
std::vector<std::span<const GatheredPart>> shares_of(std::span<const GatheredPart> parts, unsigned most) {
  std::uint64_t left = 0;
  for (const GatheredPart& part : parts) left += part.length;
  std::vector<std::span<const GatheredPart>> shares;
  for (std::uint64_t threads = std::clamp<std::uint64_t>(left / kPerThread, 1, most); threads > 0; --threads) {
    std::size_t count = 0;
    std::uint64_t share = left / threads;
    while (count < parts.size() && (share > 0 || threads == 1)) {
      left -= parts[count].length;
      share -= std::min(share, parts[count].length);
      ++count;
    }
    shares.push_back(parts.first(count));
    parts = parts.subspan(count);
  }
  return shares;
}

}  // namespace

unsigned chunks_at_once() { return copying_threads() + 1; }

unsigned copying_threads() { return std::clamp(static_cast<unsigned>(os::own_cpus().count()), 1U, kMostCopiers); }

base::Result<std::vector<GatheredPart>> gather(pid_t process, const std::vector<GatheredPart>& parts,
                                               unsigned threads) {
  const auto all = short_parts(parts);
  const auto shares = shares_of(all, threads);
  std::vector<std::vector<GatheredPart>> failed(shares.size());
  std::vector<base::Status> outcomes(shares.size());
  os::Threads others;
  for (std::size_t i = 1; i < shares.size() && outcomes[0]; ++i)
    outcomes[0] = others.start(
        "copy pages", [&, i] { gather_some(process, shares[i], failed[i]); },
        [&outcomes, i](const base::Error& why) {
          outcomes[i] = base::fail(why);
          return false;
        });
  gather_some(process, shares[0], failed[0]);
  others.join();
  std::vector<GatheredPart> all_failed;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    PERDURE_CHECK(outcomes[i]);
    all_failed.insert(all_failed.end(), failed[i].begin(), failed[i].end());
  }
  return all_failed;
}

}  // namespace perdure::process
