#include "process/staged_pages.hpp"

#include <algorithm>

#include "process/image_source.hpp"
#include "process/page_scan.hpp"
#include "process/pages.hpp"
#include "process/zero_pages.hpp"

namespace perdure::process {
namespace {

/// Whether an address lies in one of some runs, and up to where this answer holds.
struct Within {
  bool inside = false;
  std::uint64_t until = 0;
  std::size_t run = 0;
};

Within look_up(const std::vector<PageRun>& runs, std::uint64_t address) {
  const auto behind = std::upper_bound(runs.begin(), runs.end(), address,
                                       [](std::uint64_t at, const PageRun& run) { return at < run.begin; });
  const std::uint64_t next = behind == runs.end() ? kAddressEnd : behind->begin;
  if (behind == runs.begin() || std::prev(behind)->end() <= address) return {false, next, 0};
  return {true, std::prev(behind)->end(), static_cast<std::size_t>(behind - runs.begin() - 1)};
}

std::uint64_t bytes_of_runs(const std::vector<PageRun>& runs) {
  std::uint64_t pages = 0;
  for (const PageRun& run : runs) pages += run.pages;
  return pages * kPageBytes;
}

/// Calls each(address, end, is_staged, is_current) for consecutive parts of all pages of `image`, in order.
/// `is_current`: the copy was made, and the page was not written since.
template <class Each>
void for_each_part(const ProcessImage& image, const std::vector<PageRun>& staged, const std::vector<PageRun>& unwritten,
                   const std::vector<PageRun>& lost, Each each) {
  for (const NodePages& node : image.pages)
    for (const PageRun& run : node.runs)
      for (std::uint64_t at = run.begin; at < run.end();) {
        const Within here = look_up(staged, at), same = look_up(unwritten, at), gone = look_up(lost, at);
        const std::uint64_t end = std::min({run.end(), here.until, same.until, gone.until});
        each(at, end, here.inside, here.inside && same.inside && !gone.inside);
        at = end;
      }
}

std::vector<PageRun> runs_of(std::vector<GatheredPart> parts) {
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  std::vector<PageRun> runs;
  for (const GatheredPart& part : parts) {  // parts may overlap
    const std::uint64_t begin = runs.empty() ? part.address : std::max(part.address, runs.back().end());
    if (begin < part.address + part.length) append_pages(runs, begin, part.address + part.length);
  }
  return runs;
}

}  // namespace

StagedPages::StagedPages(pid_t process, std::vector<PageRun> runs, os::Mapping memory)
    : process_(process), runs_(std::move(runs)), memory_(std::move(memory)) {
  std::uint64_t place = 0;
  for (const PageRun& run : runs_) {
    places_.push_back(place);
    place += run.pages * kPageBytes;
  }
}

base::Result<StagedPages> StagedPages::make(pid_t process, std::vector<PageRun> runs) {
  os::Mapping memory;
  if (!runs.empty()) {
    PERDURE_TRY(memory, os::Mapping::anonymous(bytes_of_runs(runs), "copies of pages"));
    memory.advise_huge_pages();
  }
  return StagedPages(process, std::move(runs), std::move(memory));
}

std::byte* StagedPages::copy_of(std::uint64_t address) const {
  const Within found = look_up(runs_, address);
  return memory_.data() + places_[found.run] + (address - runs_[found.run].begin);
}

base::Status StagedPages::take(const std::vector<PageRun>& runs) {
  std::vector<GatheredPart> parts;
  for (const PageRun& run : runs)
    for (std::uint64_t at = run.begin; at < run.end();) {
      const Within here = look_up(runs_, at);
      const std::uint64_t end = std::min(run.end(), here.until);
      if (here.inside) parts.push_back({at, end - at, copy_of(at)});
      at = end;
    }
  PERDURE_TRY(auto failed, gather(process_, parts, copying_threads()));
  for (const PageRun& before : lost_) failed.push_back({before.begin, before.pages * kPageBytes, nullptr});
  lost_ = runs_of(std::move(failed));
  return {};
}

base::Result<std::uint64_t> StagedPages::complete(const ProcessImage& image, const std::vector<PageRun>& unwritten) {
  std::uint64_t more = 0;
  for_each_part(image, runs_, unwritten, lost_, [&](std::uint64_t at, std::uint64_t end, bool has_place, bool) {
    if (!has_place) more += end - at;
  });
  if (more > 0) {
    PERDURE_TRY(more_, os::Mapping::anonymous(more, "copies of pages"));
  }
  image_ = &image;
  copies_.clear();
  std::uint64_t next = 0, bytes = 0;
  std::vector<GatheredPart> wanted;
  for_each_part(image, runs_, unwritten, lost_, [&](std::uint64_t at, std::uint64_t end, bool has_place, bool kept) {
    std::byte* const copy = has_place ? copy_of(at) : more_.data() + next;
    if (!has_place) next += end - at;
    if (!kept) wanted.push_back({at, end - at, copy});
    if (!kept) bytes += end - at;
    copies_.push_back({at, {copy, end - at}});
  });
  PERDURE_TRY(const auto failed, gather(process_, wanted, copying_threads()));
  if (!failed.empty())
    return base::fail(PERDURE_INTERNAL, "process " + std::to_string(process_),
                      std::to_string(failed.size()) + " parts of its memory cannot be read");
  return bytes;
}

template <class Each>
void StagedPages::for_each_copy(const PageRun& pages, std::size_t& at, Each each) const {
  for (std::uint64_t address = pages.begin; address < pages.end();) {
    while (address < copies_[at].address || address >= copies_[at].end()) ++at;
    const std::uint64_t end = std::min(pages.end(), copies_[at].end());
    each(copies_[at].bytes.subspan(address - copies_[at].address, end - address));
    address = end;
  }
}

// The result may be called in any order, by several threads.
ReadBlock StagedPages::read_copies() const {
  auto by_address = std::make_shared<std::vector<Copy>>(copies_);
  std::sort(by_address->begin(), by_address->end(), [](const Copy& a, const Copy& b) { return a.address < b.address; });
  return [copies = std::move(by_address)](const PageRun& block, base::ByteSpan bytes) -> base::Status {
    auto at = std::upper_bound(copies->begin(), copies->end(), block.begin,
                               [](std::uint64_t address, const Copy& copy) { return address < copy.address; });
    if (at != copies->begin()) --at;
    for (std::uint64_t address = block.begin; address < block.end(); ++at) {
      const std::uint64_t end = at == copies->end() ? address : std::min(block.end(), at->end());
      if (end <= address || at->address > address)
        return base::fail(PERDURE_INTERNAL, "image", "a page that was to be marked was not copied");
      std::memcpy(bytes.data() + (address - block.begin), at->bytes.data() + (address - at->address), end - address);
      address = end;
    }
    return {};
  };
}

base::Result<capture::Description> StagedPages::describe() {
  std::vector<PageRun> zeros;
  std::size_t at = 0;
  for (const PageRun& block : blocks_of(*image_)) {
    bool is_zero = true;
    for_each_copy(block, at, [&](base::ConstByteSpan part) { is_zero = is_zero && only_zeros(part); });
    if (is_zero) zeros.push_back(block);
  }
  ProcessImage stored = *image_;
  stored.pages = pages_without(image_->pages, zeros, kMostPageRuns);
  if (change_) {
    PERDURE_TRY(stored, change_(std::move(stored), read_copies()));
  }
  record_ = encode_image(stored);
  parts_.clear();
  begins_.clear();
  description_ = {};
  description_.entries = entries_of(record_.size(), stored);
  description_.bytes = bytes_of(description_.entries);
  std::uint64_t begin = record_.size();
  at = 0;
  for (const NodePages& node : stored.pages)
    for (const PageRun& run : node.runs)
      for_each_copy(run, at, [&](base::ConstByteSpan part) {
        parts_.push_back(part);
        begins_.push_back(begin);
        begin += part.size();
      });
  return description_;
}

base::Status StagedPages::read(capture::ChunkRange range,
                               const std::function<base::Status(base::ConstByteSpan)>& take) {
  std::uint64_t begin = range.begin, left = range.length;
  if (begin < record_.size()) {
    const std::uint64_t part = std::min<std::uint64_t>(record_.size() - begin, left);
    PERDURE_CHECK(take(base::ConstByteSpan(record_).subspan(begin, part)));
    begin += part;
    left -= part;
  }
  if (left == 0) return {};
  auto at = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), begin) - begins_.begin() - 1);
  for (; left > 0; ++at) {
    const std::uint64_t skipped = begin - begins_[at];
    const std::uint64_t part = std::min<std::uint64_t>(parts_[at].size() - skipped, left);
    PERDURE_CHECK(take(parts_[at].subspan(skipped, part)));
    begin += part;
    left -= part;
  }
  return {};
}

}  // namespace perdure::process
