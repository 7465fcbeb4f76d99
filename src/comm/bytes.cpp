// Sends byte strings of different lengths from a few ranks to all; the cost depends on their total length.
#include <algorithm>
#include <cstring>

#include "comm/communicator.hpp"

namespace perdure::comm {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kSliceWords = kSliceBytes / kWord;

std::uint64_t words_of(std::uint64_t bytes) { return (bytes + kWord - 1) / kWord; }

/// The byte strings of all speakers, one after the other, each from a word's border on.
class Stream {
 public:
  explicit Stream(const std::vector<std::uint64_t>& lengths) : lengths_(lengths) {
    for (const std::uint64_t length : lengths) begins_.push_back(begins_.back() + words_of(length));
  }
  std::uint64_t words() const { return begins_.back(); }
  std::uint64_t begin(std::size_t speaker) const { return begins_[speaker]; }
  /// Takes the next words, and passes on complete strings.
  base::Status take(std::span<const std::uint64_t> words, const Told& told) {
    const auto* next = reinterpret_cast<const std::byte*>(words.data());
    std::uint64_t left = words.size_bytes();
    while (next_ < lengths_.size()) {
      const std::uint64_t padded = words_of(lengths_[next_]) * kWord;
      const std::uint64_t more = std::min(left, padded - told_.size());
      told_.insert(told_.end(), next, next + more);
      next += more;
      left -= more;
      if (told_.size() < padded) break;
      told_.resize(lengths_[next_]);
      if (!told_.empty()) PERDURE_CHECK(told(next_, told_));
      told_.clear();
      ++next_;
    }
    return {};
  }

 private:
  const std::vector<std::uint64_t>& lengths_;
  std::vector<std::uint64_t> begins_{0};  // in words
  std::vector<std::byte> told_;           // the next one, so far
  std::size_t next_ = 0;
};

}  // namespace

// Each speaker's words have their own place, where all others have zeros: the sum is its string.
base::Status tell_all(Communicator& comm, const Speaker& speaker, base::ConstByteSpan mine,
                      const std::vector<std::uint64_t>& lengths, const Told& told) {
  Stream stream(lengths);
  if (!speaker.number) mine = {};
  const std::uint64_t begin = speaker.number ? stream.begin(*speaker.number) * kWord : 0;
  base::Status outcome;  // a rank that gets an error from `told` goes on with the others
  std::vector<std::uint64_t> slice;
  for (std::uint64_t from = 0; from < stream.words(); from += kSliceWords) {
    slice.assign(std::min(kSliceWords, stream.words() - from), 0);
    const std::uint64_t first = from * kWord, end = first + slice.size() * kWord;
    if (const std::uint64_t a = std::max(first, begin), b = std::min<std::uint64_t>(end, begin + mine.size()); a < b)
      std::memcpy(reinterpret_cast<std::byte*>(slice.data()) + (a - first), mine.data() + (a - begin), b - a);
    PERDURE_CHECK(comm.allreduce(slice, Reduce::sum));
    if (outcome) outcome = stream.take(slice, told);
  }
  return outcome;
}

base::Status tell_all(Communicator& comm, const Speaker& speaker, base::ConstByteSpan mine, const Told& told) {
  std::vector<std::uint64_t> lengths(speaker.of);
  if (speaker.number) lengths[*speaker.number] = mine.size();
  PERDURE_CHECK(comm.allreduce(lengths, Reduce::sum));
  return tell_all(comm, speaker, mine, lengths, told);
}

base::Result<std::vector<std::byte>> broadcast_bytes(Communicator& comm, base::ConstByteSpan data, int root) {
  std::uint64_t length = data.size();
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(&length, 1)), root));
  std::vector<std::byte> bytes(length);
  if (comm.rank() == root) std::copy(data.begin(), data.end(), bytes.begin());
  if (length > 0) PERDURE_CHECK(comm.broadcast(bytes, root));
  return bytes;
}

}  // namespace perdure::comm
