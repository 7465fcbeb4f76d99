#include "engine/flush/ledger_source.hpp"

#include "os/system.hpp"

namespace perdure::engine {

LedgerSource::LedgerSource(FlushContext& context, segment::VersionId id, bool write_through, FlushActivity::Part& part)
    : context_(context), id_(std::move(id)), write_through_(write_through), part_(part) {}

std::optional<FlushJob> LedgerSource::job() {
  const auto ledger = context_.ledger.lock();
  auto view = ledger->flushes.begin_attempt(id_);
  if (!view) return std::nullopt;
  context_.show(*ledger);
  meter_ = &ledger->flush_meter();
  FlushJob job{std::move(*view)};
  job.open = !job.version.committed;
  job.read_bytes_per_s = ledger->outlook.read_bytes_per_s();
  for (const auto& tier : ledger->tiers()) job.slow.push_back(!tier->properties().mapped || tier->device() != nullptr);
  job.threads = context_.options.threads;
  return job;
}

// The gate uses the ledger's state as the last chunk that began or ended saw it.
ChunkFlight LedgerSource::begin(bool reading, const std::atomic<bool>& failed, const Choose& choose) {
  ChunkFlight flight;
  flight.pass = context_.gate.enter(reading, failed);
  const base::Status chosen = base::caught(id_, [&]() -> base::Status {
    choose_chunk(flight, choose);
    return {};
  });
  flight.gone = flight.gone || !chosen;  // its chunk fails with it
  return flight;
}

void LedgerSource::choose_chunk(ChunkFlight& flight, const Choose& choose) {
  const auto ledger = context_.ledger.lock();
  context_.show(*ledger);
  flight.chunk = choose(ledger->captures.slots_wanted());
  if (!flight.chunk || flight.chunk->slot.first == catalog::kInTemporarySegment) return;
  flight.started = ledger->flushes.chunk_begins(id_, *flight.chunk);
  flight.gone = !flight.started;
  const auto& tier = ledger->tiers()[flight.chunk->slot.first];
  flight.slot = tier->address(flight.chunk->slot.second);
  flight.device = tier->device();
}

void LedgerSource::reads(ChunkFlight& flight, bool reading, const std::atomic<bool>& failed) {
  if (reading) context_.gate.reads(flight.pass);
  if (flight.started) meter_->reads(flight.chunk->slot.first, *flight.started, reading);
  if (!reading) context_.gate.stores(flight.pass, failed);
}

void LedgerSource::end(const ChunkFlight& flight, bool stored) {
  bool wanted = false;
  struct Leave {  // lets others at the gate go on, whatever happens here
    FlushGate& gate;
    FlushGate::Pass pass;
    ~Leave() { gate.leave(pass); }
  };
  if (const Leave leave{context_.gate, flight.pass}; flight.started) {
    const auto ledger = context_.ledger.lock();
    const bool movable = context_.options.room != nullptr;
    const auto observed = ledger->flushes.chunk_ended(id_, *flight.chunk, *flight.started, stored, movable);
    if (observed) context_.gate.observe(*observed);
    wanted = stored && ledger->captures.slots_wanted();
    context_.show(*ledger);
  }
  if (wanted && context_.options.room) context_.options.room();
}

void LedgerSource::pace(std::uint64_t begun_ns, std::uint64_t bytes) {
  if (context_.options.max_bytes_per_s == 0) return;
  auto pacing = context_.pacing.lock();
  const std::uint64_t delay_ns = pacing->delay_ns(begun_ns, os::monotonic_ns(), bytes);
  // The delay of one block can be minutes, and an engine that ends does not wait for it.
  pacing.wait_for(context_.stopped, std::chrono::nanoseconds(delay_ns), [this] { return context_.stopping.load(); });
}

CaptureNews LedgerSource::news() {
  CaptureNews news;
  {
    const auto ledger = context_.ledger.lock();
    news = ledger->captures.news(id_, seen_);
  }
  if (context_.stopping) news.state = CaptureNews::State::over;
  committed_ = news.state == CaptureNews::State::committed;
  if (committed_) part_.works();
  return news;
}

bool LedgerSource::has_news(const NodeState& state) const {
  if (committed_) return false;
  const OpenCapture* open = state.captures.find(id_);
  if (open == nullptr || open->failure || open->written.size() > seen_) return true;
  const auto* held = state.find(id_);
  return held != nullptr && held->committed;
}

void LedgerSource::wake() {
  {
    const auto ledger = context_.ledger.lock();  // so that no thread is between its check and its wait
  }
  context_.gate.look_again();
  context_.news.notify_all();
}

FlushSource::Turn LedgerSource::turn(const NodeState& state) const {
  if (context_.stopping || state.find(id_) == nullptr) return Turn::gone;
  return state.flushes.may_be_published(id_) ? Turn::mine : Turn::wait;
}

FlushSource::Turn LedgerSource::turn() {
  if (!write_through_) return Turn::mine;
  const auto ledger = context_.ledger.lock();
  return turn(*ledger);
}

base::Status LedgerSource::stored(std::uint32_t segment) {
  const auto ledger = context_.ledger.lock();
  PERDURE_CHECK(ledger->flushes.segment_stored(id_, segment));
  const auto* held = ledger->find(id_);
  if (held != nullptr && held->all_stored() && context_.options.all_stored) context_.options.all_stored(id_);
  return {};
}

bool LedgerSource::over() {
  const auto ledger = context_.ledger.lock();
  return ledger->flushes.attempt_over(id_);
}

}  // namespace perdure::engine
