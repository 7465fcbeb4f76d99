#include "process/zero_pages.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <span>

#include "os/thread.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kBlocksAtOnce = 512;  // the kernel accepts 1024
constexpr std::uint64_t kSampleBytes = 64;  // reading one byte would take the kernel as long

/// Samples the middle of the first page: data that begins with a length or zeros may have more there.
std::uint64_t sampled_at(const PageRun& block) { return block.begin + kPageBytes / 2; }

/// Sets whether each block may have only zeros. The kernel reads nothing behind a block that it cannot read.
void sample(pid_t process, std::span<const PageRun> blocks, std::span<char> may_be_zero) {
  std::array<std::byte, kBlocksAtOnce * kSampleBytes> samples;
  std::array<iovec, kBlocksAtOnce> there{};
  for (std::size_t i = 0; i < blocks.size(); ++i)
    there[i] = {reinterpret_cast<void*>(sampled_at(blocks[i])), kSampleBytes};  // NOLINT: an address there
  for (std::size_t first = 0; first < blocks.size(); ++first) {
    iovec here{samples.data(), (blocks.size() - first) * kSampleBytes};
    const auto got = ::process_vm_readv(process, &here, 1, there.data() + first, blocks.size() - first, 0);
    const std::size_t seen = got < 0 ? 0 : static_cast<std::size_t>(got) / kSampleBytes;
    for (std::size_t i = 0; i < seen; ++i, ++first)
      may_be_zero[first] = only_zeros(base::ConstByteSpan(samples).subspan(i * kSampleBytes, kSampleBytes));
  }
}

void look_at_some(pid_t process, const std::vector<PageRun>& blocks, std::size_t first, std::vector<char>& is_zero) {
  const std::size_t count = std::min(kBlocksAtOnce, blocks.size() - first);
  sample(process, std::span(blocks).subspan(first, count), std::span(is_zero).subspan(first, count));
  std::vector<std::byte> content(kBlockBytes);
  for (std::size_t i = first; i < first + count; ++i) {
    if (is_zero[i] == 0) continue;
    const auto its = base::ByteSpan(content).first(blocks[i].pages * kPageBytes);
    is_zero[i] = read_memory(process, blocks[i].begin, its) && only_zeros(its);
  }
}

std::size_t count_runs(const std::vector<NodePages>& pages) {
  return std::accumulate(pages.begin(), pages.end(), std::size_t{0},
                         [](std::size_t sum, const NodePages& node) { return sum + node.runs.size(); });
}

}  // namespace

bool only_zeros(base::ConstByteSpan bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::vector<PageRun> blocks_of(const ProcessImage& image) {
  std::vector<PageRun> blocks;
  for (const NodePages& node : image.pages)
    for (const PageRun& run : node.runs) {
      const MapImage* const map = image.map_of(run.begin);
      if (map != nullptr && map->file == 0) add_blocks(run, blocks);
    }
  return blocks;
}

// It is faster with threads, and works without.
std::vector<PageRun> zero_blocks(pid_t process, const std::vector<PageRun>& blocks, unsigned threads) {
  std::vector<char> is_zero(blocks.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t first = next.fetch_add(kBlocksAtOnce); first < blocks.size();
         first = next.fetch_add(kBlocksAtOnce))
      look_at_some(process, blocks, first, is_zero);
  };
  os::Threads others;
  const std::size_t shares = blocks.size() / (4 * kBlocksAtOnce);  // for fewer blocks, starting a thread takes longer
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, shares); ++i)
    (void)others.start("look for zeros", work, [](const base::Error&) { return false; });
  work();
  others.join();
  std::vector<PageRun> zeros;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (is_zero[i] != 0) zeros.push_back(blocks[i]);
  return zeros;
}

std::vector<NodePages> pages_without(const std::vector<NodePages>& pages, const std::vector<PageRun>& zeros,
                                     std::size_t most_runs) {
  std::size_t more = most_runs - std::min(most_runs, count_runs(pages));
  std::vector<NodePages> left;
  auto zero = zeros.begin();
  for (const NodePages& node : pages) {
    NodePages& its = left.emplace_back(NodePages{node.node, {}});
    for (const PageRun& run : node.runs) {
      std::uint64_t at = run.begin;
      for (; zero != zeros.end() && zero->begin >= run.begin && zero->end() <= run.end(); ++zero) {
        if (zero->begin > at) {
          if (more == 0) continue;
          its.runs.push_back({at, (zero->begin - at) / kPageBytes});
          --more;
        }
        at = zero->end();
      }
      if (at < run.end()) its.runs.push_back({at, (run.end() - at) / kPageBytes});
    }
  }
  return left;
}

}  // namespace perdure::process
