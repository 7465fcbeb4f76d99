#include "process/lazy_resume.hpp"

#include <algorithm>

#include "process/page_faults.hpp"
#include "process/pages.hpp"

namespace perdure::process {

void LazyResume::begin_anew(std::uint64_t bytes) {
  bytes_ = bytes;
  id_ = offered_;
  pages_.reset();
  faults_.reset();
  places_.clear();
  maps_.clear();
  first_.clear();
  come_.clear();
  torn_.clear();
}

void LazyResume::know(const ProcessImage& image, std::uint64_t record_bytes, os::Fd faults) {
  faults_ = std::move(faults);
  maps_ = lazy_maps(image);
  // Pages of memory that cannot be followed come first, like those of other memory.
  std::erase_if(maps_, [&](const PageRun& map) {
    return follow_missing(faults_.get(), map.begin, map.end()) != 0 ||
           follow_no_more(faults_.get(), map.begin, map.end()) != 0;
  });
  first_ = needed_first(image, maps_, record_bytes);
  std::uint64_t begin = record_bytes;
  for (const NodePages& node : image.pages)
    for (const PageRun& run : node.runs) {
      places_.push_back({run.begin, run.pages * kPageBytes, begin});
      begin += run.pages * kPageBytes;
    }
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.address < b.address; });
}

base::Result<std::vector<capture::ChunkRange>> LazyResume::left() const {
  if (offered_ == id_) return without({0, bytes_}, come_);
  return base::fail(
      PERDURE_MISMATCH, "image",
      "the process ran already with pages of " + id_.text() + ", and those of " + offered_.text() + " are not its own");
}

std::optional<std::uint64_t> LazyResume::wanted() {
  if (!runs()) return first_.empty() ? std::nullopt : std::optional(first_.front().begin);
  const auto address = pages_->wanted();
  if (!address) return std::nullopt;
  const auto place = std::upper_bound(places_.begin(), places_.end(), *address,
                                      [](std::uint64_t at, const Place& one) { return at < one.address; });
  if (place == places_.begin()) return std::nullopt;
  const std::uint64_t begin = std::prev(place)->begin + (*address - std::prev(place)->address);
  // A chunk may end within the page.
  const auto still = without({begin, kPageBytes}, come_);
  return still.empty() ? std::nullopt : std::optional(still.front().begin);
}

base::Status LazyResume::join(std::uint64_t begin, base::ConstByteSpan bytes,
                              const std::function<base::Status(std::uint64_t begin, base::ConstByteSpan bytes)>& give) {
  while (!bytes.empty()) {
    const std::uint64_t within = begin % kPageBytes, whole = bytes.size() / kPageBytes * kPageBytes;
    std::uint64_t done = whole;
    if (within == 0 && whole > 0) {
      PERDURE_CHECK(give(begin, bytes.first(whole)));
    } else {
      const std::uint64_t page = begin - within;
      done = std::min<std::uint64_t>(kPageBytes - within, bytes.size());
      Torn& torn = torn_[page];
      std::copy_n(bytes.begin(), done, torn.bytes.begin() + static_cast<std::ptrdiff_t>(within));
      add_range(torn.come, {within, done});
      if (torn.come.front() == capture::ChunkRange{0, kPageBytes}) {
        PERDURE_CHECK(give(page, torn.bytes));
        torn_.erase(page);
      }
    }
    begin += done;
    bytes = bytes.subspan(done);
  }
  return {};
}

void LazyResume::has_come(capture::ChunkRange range) {
  add_range(come_, range);
  std::vector<capture::ChunkRange> still;
  for (const auto& one : first_)
    for (const auto& part : without(one, {range})) still.push_back(part);
  first_ = std::move(still);
}

bool LazyResume::may_be_followed() const {
  return !pages_ && faults_ && first_.empty() && !without({0, bytes_}, come_).empty();
}

std::vector<PageRun> LazyResume::missing() const {
  std::vector<PageRun> runs;
  for (const Place& place : places_)
    for (const auto& part : without({place.begin, place.bytes}, come_)) {
      const std::uint64_t begin = (part.begin - place.begin) / kPageBytes * kPageBytes;
      const std::uint64_t end = base::round_up(part.end() - place.begin, kPageBytes);
      runs.push_back({place.address + begin, (end - begin) / kPageBytes});
    }
  return runs;
}

// After memory is followed, no page appears there unnoticed. So the check for present pages comes afterwards.
base::Status LazyResume::follow(pid_t process) {
  const auto all = missing();
  PERDURE_TRY(pages_, LazyPages::begin(process, std::move(faults_), maps_, all, guard_));
  PERDURE_TRY(const auto there, pages_there(process, all));
  for (const PageRun& run : there) need_first(run);
  return {};
}

void LazyResume::need_first(const PageRun& pages) {
  auto place = std::partition_point(places_.begin(), places_.end(),
                                    [&](const Place& one) { return one.address + one.bytes <= pages.begin; });
  for (; place != places_.end() && place->address < pages.end(); ++place) {
    const std::uint64_t begin = std::max(pages.begin, place->address);
    const std::uint64_t end = std::min(pages.end(), place->address + place->bytes);
    for (const auto& part : without({place->begin + (begin - place->address), end - begin}, come_))
      add_range(first_, part);
  }
}

}  // namespace perdure::process
