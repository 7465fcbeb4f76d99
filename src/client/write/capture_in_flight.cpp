#include "client/write/capture_in_flight.hpp"

#include <chrono>
#include <utility>

#include "os/affinity.hpp"

namespace perdure::client {
namespace {

// More pieces of memory than this are not worth a list.
constexpr std::size_t kMostParts = 100'000;

// Ranks of a node protect their memory within milliseconds of each other, unless one waits for slots.
constexpr std::chrono::milliseconds kOthersProtect{20};

}  // namespace

CaptureInFlight::CaptureInFlight(Job& job, segment::VersionId id, const capture::RegionTable& regions,
                                 RegionPlaces& places)
    : job_(job), id_(std::move(id)), source_(regions, places), writer_(job, source_) {}

base::Result<bool> CaptureInFlight::begin(std::optional<os::WriteReach> least_reach) {
  PERDURE_CHECK(writer_.begin(id_));
  if (writer_.is_small()) {  // too little to be worth protecting
    PERDURE_CHECK(writer_.put_all());
    PERDURE_CHECK(writer_.stage());
    return true;
  }
  PERDURE_CHECK(writer_.take_slots(later_));
  if (!least_reach || !protect(*least_reach)) {
    PERDURE_CHECK(writer_.put_now(std::exchange(later_, {})));
    PERDURE_CHECK(writer_.stage());
    return true;
  }
  return false;
}

// The thread starts before the program goes on, so that the program does not wait for its start.
void CaptureInFlight::start() {
  auto begun = os::Thread::start(
      "capture",
      [this] {
        os::use_cpus(job_.engine().prefaulter().cpus());
        await_others();
        ended(base::caught("checkpoint", [this] { return finish(); }));
      },
      [this](const base::Error& why) {
        ended(base::fail(base::copy_or_code(why)));
        return false;
      });
  if (begun) {
    thread_ = std::move(*begun);
  } else {
    let_copy(false);
    ended(finish());
  }
}

// The wait is limited: slots come back when they are written, and a late rank may be waiting for one of these.
void CaptureInFlight::await_others() {
  auto state = state_.lock();
  (void)state.wait_for(changed_, kOthersProtect, [&] { return state->may_copy; });
}

void CaptureInFlight::go_on() { let_copy(true); }

void CaptureInFlight::let_copy(bool all_began) {
  {
    const auto state = state_.lock();
    state->may_copy = true;
    state->all_began = state->all_began || all_began;
  }
  changed_.notify_all();
}

// The answer comes soon. A rank that waits for a slot meanwhile can have these, which are written.
bool CaptureInFlight::all_have_begun() {
  auto state = state_.lock();
  state.wait(changed_, [&] { return state->may_copy; });
  return state->all_began;
}

// False: nothing is protected, and nothing copied.
bool CaptureInFlight::protect(os::WriteReach least_reach) {
  if (source_.memory().scattered()) return false;
  std::vector<capture::CopyPart> parts;
  for (const auto& one : later_) {
    std::byte* to = one.memory.data();
    const auto listed = source_.memory().each(
        writer_.range(one.chunk), [&](const std::byte* address, std::uint64_t bytes) -> base::Status {
          const auto at = reinterpret_cast<std::uint64_t>(address);
          parts.push_back({at, at + bytes, std::exchange(to, to + bytes)});
          return parts.size() < kMostParts ? base::Status() : base::fail(PERDURE_NO_SPACE, "regions", "too many");
        });
    if (!listed) return false;
  }
  auto begun = ProtectedCopy::begin(parts, least_reach);
  if (!begun) hindered_ = begun.error().text();
  if (begun) copy_ = std::move(*begun);
  if (copy_) start();
  return copy_ != nullptr;
}

// Hashes only after everything is copied: the sooner that is, the fewer writes wait.
base::Status CaptureInFlight::finish() {
  const auto copied = base::caught("checkpoint", [this] { return copy_all(); });
  copy_->end();  // in any case: writers that wait for a block go on
  PERDURE_CHECK(copied);
  for (const auto& one : later_) {
    const base::Hash128 hash = base::hash128(one.memory);
    const auto engine = this->engine();
    PERDURE_CHECK(writer_.filled(one, hash));
  }
  const bool all = all_have_begun();  // before the engine's lock: the call may need it to get that far
  const auto engine = this->engine();
  PERDURE_CHECK(writer_.stage(all));
  if (job_.ranks() > 1) return {};  // they agree in their next collective call, if their engine has not seen it before
  PERDURE_CHECK(writer_.commit());
  const auto state = state_.lock();
  state->committed = true;
  return {};
}

base::Status CaptureInFlight::copy_all() {
  for (std::size_t block = 0; block < copy_->blocks(); ++block) PERDURE_CHECK(copy_->complete(block));
  return {};
}

void CaptureInFlight::ended(base::Status outcome) {
  const auto state = state_.lock();
  state->outcome = std::move(outcome);
}

void CaptureInFlight::end() {
  let_copy(false);  // the ranks have not agreed
  thread_.join();
  if (copy_) copy_->end();
}

base::Status CaptureInFlight::wait() {
  end();
  const auto state = state_.lock();
  return state->outcome;
}

bool CaptureInFlight::committed() {
  const auto state = state_.lock();
  return state->committed;
}

}  // namespace perdure::client
