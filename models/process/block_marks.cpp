#include "process/block_marks.hpp"

#include <sodium.h>

#include <algorithm>
#include <atomic>

#include "base/guarded.hpp"
#include "os/thread.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kMarkedAtOnce = 64;

static_assert(crypto_onetimeauth_BYTES == kMarkBytes && crypto_onetimeauth_KEYBYTES == kMarkKeyBytes);

const unsigned char* raw(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }
unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace

std::vector<std::byte> new_mark_key() {
  std::vector<std::byte> key(kMarkKeyBytes);
  randombytes_buf(key.data(), key.size());
  return key;
}

base::Result<std::vector<std::byte>> marks_of(const std::vector<PageRun>& blocks, const std::vector<std::byte>& key,
                                              const ReadBlock& read, unsigned threads) {
  std::vector<std::byte> marks(blocks.size() * kMarkBytes);
  std::atomic<std::size_t> next{0};
  base::Guarded<base::Status> outcome;
  const auto mark_some = [&](std::size_t first, std::vector<std::byte>& content) -> base::Status {
    for (std::size_t i = first; i < std::min(first + kMarkedAtOnce, blocks.size()); ++i) {
      const auto bytes = base::ByteSpan(content).first(blocks[i].pages * kPageBytes);
      PERDURE_CHECK(read(blocks[i], bytes));
      crypto_onetimeauth(raw(marks.data() + i * kMarkBytes), raw(bytes.data()), bytes.size(), raw(key.data()));
    }
    return {};
  };
  const auto work = [&] {
    std::vector<std::byte> content(kBlockBytes);
    for (std::size_t first; (first = next.fetch_add(kMarkedAtOnce)) < blocks.size();)
      if (base::Status marked = mark_some(first, content); !marked) {
        const auto failed = outcome.lock();
        *failed = std::move(marked);
        return;
      }
  };
  os::Threads others;  // it is faster with them, and works without
  const std::size_t shares = blocks.size() / (2 * kMarkedAtOnce);
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, shares); ++i)
    (void)others.start("mark blocks", work, [](const base::Error&) { return false; });
  work();
  others.join();
  const auto failed = outcome.lock();
  PERDURE_CHECK(*failed);
  return marks;
}

}  // namespace perdure::process
