#include "process/increment.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "process/pages.hpp"

namespace perdure::process {
namespace {

/// With more marks, for an image above some 512 GiB, the record would exceed a reader's limit.
constexpr std::size_t kMostMarkBytes = 128 * base::MiB;

using Mark = std::array<std::byte, kMarkBytes>;

Mark mark_at(const std::vector<std::byte>& marks, std::size_t block) {
  Mark mark;
  std::memcpy(mark.data(), marks.data() + block * kMarkBytes, kMarkBytes);
  return mark;
}

/// The location of a stored block.
struct Stored {
  std::uint64_t pages = 0;
  Mark mark{};
  Lender lender;
  std::uint64_t offset = 0;  // in the lender's capture
};

/// Another process may write there between the mark and the copy, although this process stands still. Then the mark
/// does not match the stored content.
bool is_shared(const ProcessImage& image, const PageRun& run) {
  const MapImage* const map = image.map_of(run.begin);
  return map != nullptr && (map->shared || map->object != 0);
}

using StoredBlocks = std::map<std::uint64_t, Stored>;  // by address

/// Returns the blocks that another image may borrow.
StoredBlocks blocks_of_stored(const StoredImage& stored) {
  StoredBlocks all;
  std::size_t number = 0;
  const auto add = [&](const PageRun& run, const Lender& lender, std::uint64_t offset) {
    std::vector<PageRun> blocks;
    add_blocks(run, blocks);
    const bool shared = is_shared(stored.image, run);
    for (const PageRun& block : blocks) {
      const Mark mark = mark_at(stored.image.increment.marks, number++);
      if (!shared) all[block.begin] = {block.pages, mark, lender, offset + (block.begin - run.begin)};
    }
  };
  std::uint64_t offset = stored.record_bytes;
  for (const NodePages& node : stored.image.pages)
    for (const PageRun& run : node.runs) {
      add(run, stored.lender, offset);
      offset += run.pages * kPageBytes;
    }
  for (const BorrowedPages& one : stored.image.increment.borrowed)
    for (const BorrowedRun& run : one.runs) add(run.run(), stored.image.increment.lenders[one.lender], run.offset);
  return all;
}

class Shortening {
 public:
  Shortening(const ProcessImage& image, const std::vector<std::byte>& marks, const StoredBlocks& stored)
      : marks_(&marks), stored_(&stored) {
    for (const NodePages& node : image.pages) {
      own_.push_back({node.node, {}});
      of_node_.clear();
      for (const PageRun& run : node.runs) add(node.node, run, is_shared(image, run));
    }
  }
  std::vector<NodePages> own() const { return own_; }
  const Increment& increment() const { return increment_; }
  std::size_t runs() const {
    std::size_t runs = 0;
    for (const auto& one : own_) runs += one.runs.size();
    for (const auto& one : increment_.borrowed) runs += one.runs.size();
    return runs;
  }
  /// Returns the marks in the present order of blocks.
  std::vector<std::byte> marks(const ProcessImage& shorter) const {
    std::vector<std::byte> all;
    for (const PageRun& block : blocks_of_pages(shorter.all_pages())) {
      const Mark mark = mark_at(*marks_, numbers_.at(block.begin));
      all.insert(all.end(), mark.begin(), mark.end());
    }
    return all;
  }

 private:
  // A run lies in one mapping, so joined runs were one before.
  void add(std::uint32_t node, const PageRun& run, bool shared) {
    std::vector<PageRun> blocks;
    add_blocks(run, blocks);
    bool own_before = false;
    std::optional<std::size_t> lent_before;
    for (const PageRun& block : blocks) {
      numbers_[block.begin] = next_;
      const auto found = stored_->find(block.begin);
      const bool same = !shared && found != stored_->end() && found->second.pages == block.pages &&
                        found->second.mark == mark_at(*marks_, next_);
      ++next_;
      if (!same) {
        auto& runs = own_.back().runs;
        if (own_before)
          runs.back().pages += block.pages;
        else
          runs.push_back(block);
      } else {
        lent_before = borrow(node, block, found->second, lent_before);
      }
      own_before = !same;
      if (own_before) lent_before.reset();
    }
  }

  /// Returns the index in the list. `before`: the index for the previous block.
  std::size_t borrow(std::uint32_t node, const PageRun& block, const Stored& from, std::optional<std::size_t> before) {
    const std::size_t number = number_of(node, from.lender);
    BorrowedPages& its = increment_.borrowed[number];
    BorrowedRun* const last = its.runs.empty() ? nullptr : &its.runs.back();
    const bool goes_on = before == number && last != nullptr && last->offset + last->pages * kPageBytes == from.offset;
    if (goes_on)
      last->pages += block.pages;
    else
      its.runs.push_back({block.begin, block.pages, from.offset});
    return number;
  }

  /// Returns the index of this node's pages from that lender, and adds it if needed.
  std::size_t number_of(std::uint32_t node, const Lender& from) {
    auto& lenders = increment_.lenders;
    const auto lender = static_cast<std::uint32_t>(std::find(lenders.begin(), lenders.end(), from) - lenders.begin());
    if (lender == lenders.size()) lenders.push_back(from);
    const auto [found, fresh] = of_node_.try_emplace(lender, increment_.borrowed.size());
    if (fresh) increment_.borrowed.push_back({lender, node, {}});
    return found->second;
  }

  const std::vector<std::byte>* marks_;
  const StoredBlocks* stored_;
  std::vector<NodePages> own_;
  Increment increment_;
  std::map<std::uint32_t, std::size_t> of_node_;  // by lender: index in increment_.borrowed
  std::map<std::uint64_t, std::size_t> numbers_;  // of blocks, by address
  std::size_t next_ = 0;
};

}  // namespace

std::vector<PageRun> blocks_of_pages(const std::vector<NodePages>& pages) {
  std::vector<PageRun> blocks;
  for (const NodePages& node : pages)
    for (const PageRun& run : node.runs) add_blocks(run, blocks);
  return blocks;
}

ProcessImage shortened(ProcessImage image, std::vector<std::byte> key, std::vector<std::byte> marks,
                       const StoredImage* before, std::size_t most_lenders) {
  image.increment = {};
  if (marks.size() > kMostMarkBytes) return image;
  const bool comparable = before != nullptr && !key.empty() && before->image.increment.key == key;
  if (comparable) {
    const StoredBlocks stored = blocks_of_stored(*before);
    const Shortening shortening(image, marks, stored);
    ProcessImage shorter = image;
    shorter.pages = shortening.own();
    shorter.increment = shortening.increment();
    const bool worth_it = shorter.page_bytes() <= image.page_bytes() / 2 &&
                          shorter.increment.lenders.size() <= std::min(most_lenders, kMostLenders) &&
                          shortening.runs() <= kMostPageRuns;
    if (worth_it && !shorter.increment.lenders.empty()) {
      shorter.increment.marks = shortening.marks(shorter);
      shorter.increment.key = std::move(key);
      return shorter;
    }
  }
  image.increment.key = std::move(key);
  image.increment.marks = std::move(marks);
  return image;
}

std::vector<segment::Borrowed> lent_segments(const Increment& increment) {
  std::vector<segment::Borrowed> segments;
  for (const Lender& lender : increment.lenders)
    segments.push_back({lender.version, {0, 1, {lender.created_ns, lender.nonce}}});
  return segments;
}

}  // namespace perdure::process
