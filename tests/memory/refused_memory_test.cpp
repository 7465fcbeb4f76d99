// Tests refused memory at every place where Perdure allocates, one after the other, in the application and in perdured.
// Each gives an error or success that is the same on all ranks. The application goes on, no rank waits for ever, and
// the next launch finds all acknowledged versions.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "damage.hpp"
#include "refusing_new.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr int kRanks = 2, kLaunches = 2;
constexpr const char* kName = "a_job_whose_name_takes_memory_wherever_it_is_copied";
constexpr std::size_t kWords = 24000, kSmallWords = 500;  // small checkpoints may be staged ahead

/// Records the ranks' results in memory that outlives them.
struct Found {
  std::array<std::array<perdure_status, 3>, kRanks> restored{};  // of each launch, and of the undisturbed one
  std::array<std::array<bool, 4>, kRanks> acknowledged{};        // a checkpoint of this version
};

// The communicator belongs to the application: its memory is not refused.
int own_barrier(void* rank) {
  const OwnMemory mine;
  const auto& c = static_cast<const Rank*>(rank)->communicator;
  return c.barrier(c.context);
}
int own_allreduce(void* rank, std::uint64_t* values, std::size_t count, int operation) {
  const OwnMemory mine;
  const auto& c = static_cast<const Rank*>(rank)->communicator;
  return c.allreduce(c.context, values, count, operation);
}
int own_allgather(void* rank, const void* one, std::size_t bytes, void* all) {
  const OwnMemory mine;
  const auto& c = static_cast<const Rank*>(rank)->communicator;
  return c.allgather(c.context, one, bytes, all);
}
int own_broadcast(void* rank, void* data, std::size_t bytes, int root) {
  const OwnMemory mine;
  const auto& c = static_cast<const Rank*>(rank)->communicator;
  return c.broadcast(c.context, data, bytes, root);
}

/// Calls Perdure with refusals; all other code here is the application's. A call that fails without a text is an error.
class Application {
 public:
  Application(const Rank& rank, const std::string& options) : rank_(rank) {
    perdure_communicator communicator = rank.communicator;
    communicator.context = const_cast<Rank*>(&rank_);
    communicator.barrier = own_barrier;
    communicator.allreduce = own_allreduce;
    communicator.allgather = own_allgather;
    communicator.broadcast = own_broadcast;
    std::array<char, 2000> message{};
    (void)called("open", [&] {
      return perdure_open_communicator(&communicator, options.c_str(), &handle_, message.data(), message.size());
    });
    if (handle_ == nullptr) std::fprintf(stderr, "open: %s\n", message.data());
    mute_ = handle_ == nullptr && message[0] == '\0';
  }
  template <class Call>
  perdure_status called(const char* name, Call call) {
    perdure_status status = PERDURE_OK;
    {
      const PerduresMemory refused;
      status = call();
    }
    if (handle_ == nullptr || status == PERDURE_OK) return status;
    if (std::string(perdure_error_text(handle_)).empty()) mute_ = true;
    if (std::getenv("PERDURE_TEST_TALK") != nullptr)
      std::fprintf(stderr, "rank %d %s: %s: %s\n", rank_.rank, name, perdure_status_name(status),
                   perdure_error_text(handle_));
    return status;
  }
  perdure_t* handle() const { return handle_; }
  perdure_t** handle_place() { return &handle_; }
  bool mute() const { return mute_; }

 private:
  Rank rank_;
  perdure_t* handle_ = nullptr;
  bool mute_ = false;
};

struct Life {
  std::size_t words = kWords;
  int launch = 0;
  std::vector<std::int64_t> versions;
  bool closes = false, on_write = false;
};

int live(const Rank& rank, const std::string& options, const Life& life, Found& found) {
  Application application(rank, options);
  if (application.handle() == nullptr) return application.mute() ? 1 : 0;
  perdure_t* const handle = application.handle();
  const auto place = static_cast<std::size_t>(rank.rank);
  State state(rank.rank, life.words);
  (void)application.called("protect", [&] {
    const perdure_status step = perdure_protect(handle, 1, &state.step, sizeof state.step, 1);
    return step != PERDURE_OK ? step : perdure_protect(handle, 2, state.words.data(), 8, state.words.size());
  });
  const perdure_status restored =
      application.called("restore", [&] { return perdure_restore(handle, kName, PERDURE_LATEST); });
  found.restored[place][static_cast<std::size_t>(life.launch)] = restored;
  if (restored == PERDURE_OK && !state.right()) return 91;
  for (const std::int64_t version : life.versions) {
    state.advance(static_cast<std::uint64_t>(version));
    perdure_status captured =
        application.called("checkpoint", [&] { return perdure_checkpoint(handle, kName, version); });
    if (captured == PERDURE_OK && life.on_write) {  // everything is overwritten while it is captured
      std::fill(state.words.begin(), state.words.end(), ~std::uint64_t{0});
      captured =
          application.called("wait", [&] { return perdure_wait(handle, kName, version, PERDURE_LEVEL_PROCESS, 1); });
      state.advance(static_cast<std::uint64_t>(version));
    }
    found.acknowledged[place][static_cast<std::size_t>(version)] = captured == PERDURE_OK;
    for (const perdure_level level : {PERDURE_LEVEL_NODE, PERDURE_LEVEL_STORE})
      (void)application.called("wait", [&] { return perdure_wait(handle, kName, version, level, 1); });
  }
  (void)application.called("latest", [&] {
    std::int64_t latest = 0;
    return perdure_latest(handle, kName, &latest);
  });
  (void)application.called("stored size", [&] {
    perdure_region_size size{};
    return perdure_stored_size(handle, kName, PERDURE_LATEST, 2, &size);
  });
  (void)application.called("progress", [&] {
    perdure_progress progress{};
    return perdure_get_progress(handle, &progress);
  });
  if (life.closes) (void)application.called("close", [&] { return perdure_close(application.handle_place()); });
  return application.mute() ? 1 : 0;
}

class RefusedMemory : public ::testing::TestWithParam<const char*> {
 protected:
  static bool is_small() { return std::string(GetParam()) == "small"; }
  static bool is_on_write() { return std::string_view(GetParam()).ends_with(kOnWrite); }
  void SetUp() override {
    if (lacks_protection(GetParam())) GTEST_SKIP() << kNoProtection;
  }
  static std::size_t words() { return is_small() ? kSmallWords : kWords; }
  static std::uint64_t number(const char* variable, std::uint64_t otherwise) {
    const char* value = std::getenv(variable);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
  }
  std::string options(const std::string& more) const {
    return options_in(directory_->path(), is_small() ? "embedded" : GetParam(),
                      "node.ranks_per_node=1;redundancy.scheme=xor;flush.during_capture=always;checkpoint.timeout=5;"
                      "engine.start_timeout=5;engine.daemon_path=" PERDURED_OF_REFUSED_MEMORY +
                          more);
  }
  /// Returns an error text, or an empty one.
  std::string lived(const Life& life, const std::string& more, const std::string& refusals, Found& found) {
    RunOptions run;
    run.ranks = kRanks;
    run.timeout_s = 120;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      const OwnMemory mine;  // except for Perdure's calls and threads
      ::setenv("PERDURE_TEST_REFUSALS", refusals.c_str(), 1);
      obey_refusals(refusals);
      return live(rank, options(more), life, found);
    });
    kill_engines(directory_->path());
    return outcome.all(0) ? "" : "launch " + std::to_string(life.launch) + ": " + outcome.text() + "\n";
  }
  /// Runs a launch without refusals.
  std::string found_again(std::int64_t acknowledged) {
    RunOptions run;
    run.ranks = kRanks;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options(""));
      State state(rank.rank, words());
      state.protect(handle);
      const perdure_status restored = perdure_restore(handle, kName, PERDURE_LATEST);
      if (acknowledged > 0) REQUIRE_STATUS(PERDURE_OK, handle, restored);
      if (restored == PERDURE_OK) {
        REQUIRE(state.right());
        REQUIRE(static_cast<std::int64_t>(state.step) >= acknowledged);
      }
      state.advance(9);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, kName, 9));
      (void)perdure_close(&handle);  // this test ignores its result for level store
      return 0;
    });
    kill_engines(directory_->path());
    return outcome.all(0) ? ""
                          : "a launch that is not disturbed, after version " + std::to_string(acknowledged) +
                                " was acknowledged: " + outcome.text() + "\n";
  }
  /// Runs two launches under the plan; the second finds what the first left when it was killed. Then runs one without
  /// refusals. Returns an error text.
  std::string job_under(const std::string& refusals) {
    directory_.emplace();
    SharedMemory<Found> found;
    const std::string more = ";engine.drain_timeout=2";
    std::string wrong = lived({words(), 0, {1, 2}, false, is_on_write()}, more, refusals, *found);
    wrong += lived({words(), 1, {3}, true, is_on_write()}, more, refusals, *found);
    for (std::size_t launch = 0; launch < kLaunches; ++launch)
      if ((found->restored[0][launch] == PERDURE_OK) != (found->restored[1][launch] == PERDURE_OK))
        wrong += "the restore of launch " + std::to_string(launch) + " does not end alike on all ranks\n";
    std::int64_t acknowledged = 0;  // on all ranks; otherwise nothing was promised
    for (std::size_t version = 1; version < found->acknowledged[0].size(); ++version)
      if (found->acknowledged[0][version] && found->acknowledged[1][version])
        acknowledged = static_cast<std::int64_t>(version);
    return wrong + found_again(acknowledged);
  }
  void try_all(RefusalPlan plan) {
    const TemporaryDirectory shared;
    const std::string file = shared / "refusals";
    plan.depth = number("PERDURE_TEST_REFUSE_DEPTH", plan.depth);
    plan.each = number("PERDURE_TEST_REFUSE_EACH", plan.each);
    plan.chosen = number("PERDURE_TEST_REFUSE_CHOSEN", plan.chosen);
    Refusals refusals(file, plan);
    ASSERT_EQ(job_under(file), "") << "and nothing was refused";
    for (int without = 0; without < 2;) {
      refusals.allow(1);
      const std::string wrong = job_under(file);
      without = refusals.used() ? 0 : without + 1;
      EXPECT_EQ(wrong, "") << "memory was refused to " << refusals.last();
      if (std::getenv("PERDURE_TEST_TALK") != nullptr)
        std::fprintf(stderr, "%s%llu %s\n", wrong.c_str(), static_cast<unsigned long long>(refusals.places()),
                     refusals.last().c_str());
    }
    EXPECT_GT(refusals.places(), 0U);
  }
  std::optional<TemporaryDirectory> directory_;
};
// "small" and "embedded_on_write" are embedded, so perdured is drawn from the other two.
INSTANTIATE_TEST_SUITE_P(Modes, RefusedMemory, ::testing::Values("embedded", "daemon", "small", "embedded_on_write"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(RefusedMemory, OnceAtEachPlaceIsAnErrorOrIsDoneWithout) {
  try_all({.each = campaign() ? 1U : unless_sanitized(197U, 997U)});
}

TEST_P(RefusedMemory, SeveralTimesInARowIsAnErrorOrIsDoneWithout) {
  if (!campaign()) GTEST_SKIP() << "campaigns only: each place takes a job of its own";
  try_all({.each = 5, .chosen = 1, .in_a_row = 12});
}

}  // namespace
