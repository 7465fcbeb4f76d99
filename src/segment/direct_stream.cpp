#include "segment/direct_stream.hpp"

#include <algorithm>

namespace perdure::segment {

class DirectStream::Turn {
 public:
  Turn() : mine_(++count() <= kMostStreams) {}
  ~Turn() { --count(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool mine() const { return mine_; }

 private:
  static std::atomic<int>& count() {
    static std::atomic<int> streams = 0;
    return streams;
  }
  const bool mine_;
};

std::unique_ptr<ByteStream> DirectStream::begin(const os::File& file, const os::DirectFile& direct,
                                                std::atomic<bool>& usable, std::uint64_t offset, std::uint64_t bytes) {
  auto turn = std::make_unique<Turn>();
  if (!turn->mine()) return nullptr;
  auto memory = os::Mapping::anonymous(kBlocks * kBlockBytes, "what is read of segments");
  if (!memory) return nullptr;
  memory->advise_huge_pages();
  std::unique_ptr<DirectStream> stream(
      new DirectStream(file, direct, usable, offset, bytes, std::move(*memory), std::move(turn)));
  stream->start_threads();
  return stream;
}

DirectStream::DirectStream(const os::File& file, const os::DirectFile& direct, std::atomic<bool>& usable,
                           std::uint64_t offset, std::uint64_t bytes, os::Mapping memory, std::unique_ptr<Turn> turn)
    : file_(file),
      direct_(direct),
      usable_(usable),
      turn_(std::move(turn)),
      memory_(std::move(memory)),
      first_(offset / os::DirectFile::kAlignment * os::DirectFile::kAlignment),
      end_(base::round_up(offset + bytes, os::DirectFile::kAlignment)),
      offset_(offset) {}

DirectStream::~DirectStream() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  threads_.join();
}

// If the system refuses threads, the consumer reads a block that no thread has begun.
void DirectStream::start_threads() {
  for (std::size_t i = 0; i < kThreads; ++i)
    (void)threads_.start(
        "read segments", [this] { read_ahead(); }, [](const base::Error&) { return false; });
}

void DirectStream::read_ahead() {
  const std::uint64_t blocks = base::round_up(end_ - first_, kBlockBytes) / kBlockBytes;
  for (;;) {
    std::uint64_t number = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || next_ == blocks || next_ < in_use_ + kBlocks; });
      if (ending_ || next_ == blocks) return;
      number = next_++;
    }
    fetch(number);
  }
}

base::ByteSpan DirectStream::memory_of(std::uint64_t number) const {
  const std::uint64_t begin = first_ + number * kBlockBytes;
  return {memory_.data() + number % kBlocks * kBlockBytes, std::min(kBlockBytes, end_ - begin)};
}

// If the file ends within the last page, that is all of the block.
void DirectStream::fetch(std::uint64_t number) {
  std::size_t got = 0;
  if (usable_)  // exceptions mean refused memory
    base::attempt([&] { got = direct_.read(first_ + number * kBlockBytes, memory_of(number)); });
  {
    const std::lock_guard lock(mutex_);
    blocks_[number % kBlocks] = {true, got};
  }
  changed_.notify_all();
}

/// Returns how many bytes of it are there.
std::size_t DirectStream::await(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  if (next_ == number) {
    ++next_;
    lock.unlock();
    fetch(number);
    lock.lock();
  }
  Block& block = blocks_[number % kBlocks];
  changed_.wait(lock, [&] { return block.read; });
  return block.bytes;
}

void DirectStream::let_go_before(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    if (in_use_ >= number) return;
    for (; in_use_ < number; ++in_use_) blocks_[in_use_ % kBlocks] = {};
  }
  changed_.notify_all();
}

base::Status DirectStream::read(base::ByteSpan target, base::Hasher& hasher) {
  constexpr std::size_t kNotWantedSoon = 512 * base::KiB;  // the caller parses smaller parts at once
  while (!target.empty()) {
    const std::uint64_t number = (offset_ - first_) / kBlockBytes, skipped = (offset_ - first_) % kBlockBytes;
    const auto part = target.first(std::min<std::uint64_t>(target.size(), kBlockBytes - skipped));
    let_go_before(number);
    if (offset_ < end_ && await(number) >= skipped + part.size()) {
      base::copy_and_hash(part.data(), memory_of(number).data() + skipped, part.size(), hasher, kNotWantedSoon);
    } else {
      usable_ = false;
      PERDURE_CHECK(file_.read(offset_, part));
      hasher.update(part);
    }
    offset_ += part.size();
    target = target.subspan(part.size());
  }
  return {};
}

}  // namespace perdure::segment
