// Writes into the slots of a real tier as ranks do: prepare, then copy and hash. Like ranks it does not wait for the
// disk on a file tier, so the figure includes the kernel's cache.
#include <algorithm>
#include <charconv>
#include <latch>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "calibration/measure.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "os/thread.hpp"
#include "tier/slot_io.hpp"
#include "tier/tier.hpp"

namespace perdure::calibration {
namespace {

using base::Result;
using base::Status;

/// A shorter run than some time slices of the scheduler would measure the moments at which threads begin and end.
constexpr double kLeast_s = 0.04, kMostTimes = 32;
constexpr std::string_view kPrefix = "calibrate-";  // followed by the process, and a random number

/// Makes content that no file system can compress.
std::vector<std::byte> noise(std::uint64_t bytes) {
  std::vector<std::byte> content(bytes);
  std::uint64_t state = 1;
  for (std::byte& byte : content) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56U);
  }
  return content;
}

/// Occupies slots while it lives.
class Slots {
 public:
  static Result<Slots> acquire(tier::Tier& tier, unsigned count, std::uint64_t bytes) {
    Slots slots(tier);
    for (unsigned i = 0; i < count; ++i) {
      PERDURE_TRY(const std::uint64_t slot, tier.acquire(bytes));
      slots.numbers_.push_back(slot);
      slots.addresses_.push_back(tier.address(slot));
    }
    return slots;
  }
  Slots(Slots&& other) noexcept = default;
  Slots& operator=(Slots&&) = delete;
  ~Slots() {
    for (std::uint64_t slot : numbers_) tier_->release(slot);
  }
  const std::vector<tier::SlotAddress>& addresses() const { return addresses_; }

 private:
  explicit Slots(tier::Tier& tier) : tier_(&tier) {}
  tier::Tier* tier_;
  std::vector<std::uint64_t> numbers_;
  std::vector<tier::SlotAddress> addresses_;
};

/// Runs one thread per slot; all begin to write at the same moment, and write their chunk so many times.
class Writers {
 public:
  Writers(const std::vector<tier::SlotAddress>& slots, tier::SlotIo& io, base::ConstByteSpan content, unsigned times)
      : slots_(slots), io_(io), content_(content), times_(times), ready_(static_cast<std::ptrdiff_t>(slots.size())) {}

  /// Returns the aggregate until the last has ended, bytes/s.
  Result<double> run() {
    start_threads();
    if (!failed_) ready_.wait();
    begin_ns_ = os::monotonic_ns();
    go_.count_down();
    threads_.join();  // waits for all threads
    if (failed_) return base::fail(*failed_);
    const double seconds = static_cast<double>(std::max<std::uint64_t>(end_ns_ - begin_ns_, 1)) * 1e-9;
    return static_cast<double>(slots_.size()) * times_ * static_cast<double>(content_.size()) / seconds;
  }

 private:
  void start_threads() {
    for (const auto& slot : slots_) {
      const auto begun = threads_.start(
          "writer", [this, &slot] { write(slot); },
          [this](const base::Error& why) {
            fail(why);
            ready_.count_down();  // it did not come to that
            return false;
          });
      if (begun) continue;
      std::lock_guard lock(mutex_);
      failed_ = begun.error();
      failed_->object = std::to_string(slots_.size()) + " writers";
      failed_->remedy += ", or lower --max-writers";
      return;
    }
  }

  void write(const tier::SlotAddress& slot) {
    ready_.count_down();
    go_.wait();
    const Status status = base::caught(slot.path, [&]() -> Status {
      for (unsigned i = 0; i < times_; ++i) {
        base::Hasher hasher;
        PERDURE_CHECK(io_.prepare(slot, content_.size()));
        PERDURE_CHECK(io_.write(slot, 0, content_, hasher));
      }
      return Status();
    });
    const std::uint64_t now = os::monotonic_ns();
    if (!status) fail(status.error());
    std::lock_guard lock(mutex_);
    end_ns_ = std::max(end_ns_, now);
  }

  void fail(const base::Error& why) {
    std::lock_guard lock(mutex_);
    if (!failed_) failed_ = why;
  }

  const std::vector<tier::SlotAddress>& slots_;
  tier::SlotIo& io_;
  base::ConstByteSpan content_;
  const unsigned times_;
  std::latch ready_, go_{1};
  os::Threads threads_;
  std::mutex mutex_;
  std::optional<base::Error> failed_;
  std::uint64_t begin_ns_ = 0, end_ns_ = 0;
};

class TierBench final : public Bench {
 public:
  explicit TierBench(TierToMeasure tier) : tier_(std::move(tier)) {}
  ~TierBench() override { clean_up(); }

  Result<Round> round(unsigned writers, std::uint64_t chunk_bytes) override {
    if (content_.size() != chunk_bytes) content_ = noise(chunk_bytes);
    PERDURE_CHECK(make_directory());
    auto measured = in_directory(writers, chunk_bytes);
    clean_up();
    return measured;
  }

 private:
  Result<Round> in_directory(unsigned writers, std::uint64_t chunk_bytes) {
    PERDURE_TRY(const auto tier, tier::make_tier(tier_.kind, {0, directory_, chunk_bytes, tier_.max_bytes}));
    tier::SlotIo io;
    Round measured;
    PERDURE_TRY(const Slots slots, Slots::acquire(*tier, writers, chunk_bytes));
    PERDURE_TRY(measured.fresh, Writers(slots.addresses(), io, content_, 1).run());
    PERDURE_TRY(const double once, Writers(slots.addresses(), io, content_, 1).run());
    const double seconds = writers * static_cast<double>(chunk_bytes) / once;
    const auto times = static_cast<unsigned>(std::clamp(kLeast_s / seconds, 1.0, kMostTimes));
    PERDURE_TRY(measured.recycled, Writers(slots.addresses(), io, content_, times).run());
    return measured;
  }

  Status make_directory() {
    PERDURE_CHECK(os::make_directories(tier_.parent));
    remove_what_the_dead_left();
    directory_ = tier_.parent + "/" + std::string(kPrefix) + std::to_string(os::process_id()) + "-" +
                 std::to_string(os::random_u64());
    return os::make_private_directory(directory_);
  }
  // A killed calibration leaves slots, which in memory take room until they are removed.
  void remove_what_the_dead_left() const {
    const auto entries = os::list_directory(tier_.parent);
    if (!entries) return;
    for (const auto& entry : *entries) {
      std::int32_t pid = 0;
      if (!entry.directory || !entry.name.starts_with(kPrefix)) continue;
      const char* end = entry.name.data() + entry.name.size();
      const auto [stop, error] = std::from_chars(entry.name.data() + kPrefix.size(), end, pid);
      if (error == std::errc() && stop != end && *stop == '-' && !os::process_alive(pid))
        (void)os::remove_tree(tier_.parent + "/" + entry.name);
    }
  }
  void clean_up() {
    if (!directory_.empty()) base::attempt([this] { (void)os::remove_tree(directory_); });
    directory_.clear();
  }

  TierToMeasure tier_;
  std::string directory_;
  std::vector<std::byte> content_;
};

}  // namespace

std::unique_ptr<Bench> tier_bench(const TierToMeasure& tier) { return std::make_unique<TierBench>(tier); }

}  // namespace perdure::calibration
