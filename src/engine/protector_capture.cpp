// Versions that are protected while they are captured: each chunk is offered to the others as it is written, so that
// the most is done when the capture ends. Nothing is recorded before the commit. (docs/adr/0014)
#include "engine/protector.hpp"

namespace perdure::engine {
namespace {

std::uint64_t bytes_of(const std::vector<segment::Piece>& pieces) {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.capture_bytes();
  return bytes;
}

}  // namespace

bool Protector::protects_captures() const {
  return membership_ && options_.during_capture && membership_->group.scheme->when == redundancy::When::while_captured;
}

// Ranks that capture would wait for the processors that protecting takes, and level node comes no sooner by that. News
// of the capture, or its commit, makes it look again.
bool Protector::others_go_first(const Work& work) const { return !work.here && options_.busy && options_.busy(); }

void Protector::capturing(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!protects_captures()) return;
    captures_.insert(id);
  }
  wake_.notify_one();
}

void Protector::look_at_captures() {
  {
    std::lock_guard guard(mutex_);
    if (!protects_captures()) return;
    for (const auto& [id, work] : works_)
      if (work->early && !work->here) captures_.insert(id.version);
  }
  wake_.notify_one();
}

Protector::WorkPointer Protector::find(const segment::VersionId& id) const {
  const auto it = works_.find({id, membership_->epoch});
  return it == works_.end() ? nullptr : it->second;
}

// What there is of it, and what was written since `seen`. With mutex_ held.
Protector::CaptureLook Protector::look_at_capture(const segment::VersionId& id, std::size_t& seen) {
  CaptureLook look;
  std::lock_guard guard(lock_);
  const OpenCapture* capture = core_.capture_to_protect(id);
  look.over = capture == nullptr && !core_.being_captured(id) && core_.find(id) == nullptr;
  if (capture == nullptr) return look;
  look.ranks = capture->ranks;
  std::vector<std::uint64_t> counts;
  std::map<std::uint32_t, std::uint64_t> index;
  for (const auto& [rank, piece] : capture->pieces) {
    index[rank] = counts.size();
    counts.push_back(piece.chunks.size());
    look.pieces.push_back(piece);
    for (auto& chunk : look.pieces.back().chunks) chunk = {0, chunk.length, {}, 0};
  }
  const redundancy::BlockOrder order(counts);
  const CaptureNews news = core_.capture_news(id, seen);
  for (std::size_t i = 0; i < news.written.size(); ++i)
    look.blocks.push_back(
        {order.block({static_cast<std::uint32_t>(index[news.written[i].rank]), news.written[i].chunk}),
         core_.address(news.chunks[i]), news.chunks[i].hash});
  return look;
}

// With mutex_ held.
void Protector::follow_capture(const segment::VersionId& id) {
  if (!membership_) return;
  WorkPointer work = find(id);
  if (work ? work->here || work->failed : options_.busy && options_.busy()) return;
  std::size_t seen = work ? work->seen : 0;
  CaptureLook look = look_at_capture(id, seen);
  if (look.over && work && work->early) forget(work);  // aborted, or its ranks are gone
  if (look.pieces.empty() || (!work && bytes_of(look.pieces) < options_.least_early_bytes)) return;
  if (!work) work = find_or_make({id, membership_->epoch}, look.ranks);
  base::Status begun = work->encoding.announced(membership_->position, look.pieces);
  if (begun && !work->early) work->pieces = std::move(look.pieces);
  work->early = true;
  work->seen = seen;
  if (begun) begun = offer(*work, look.blocks);
  if (!begun) fail(work, begun.error());
}

}  // namespace perdure::engine
