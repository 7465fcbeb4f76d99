// Tests processes that run before their pages have come. Whatever they do to missing memory, they must see each page as
// it was captured.
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "process/captured_testing.hpp"
#include "process/lazy_plan.hpp"
#include "process/page_faults.hpp"
#include "process/proc_text.hpp"
#include "support/eventually.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLazyPrograms = {"crowd",   "grows",     "handlers", "hands_on", "mappings", "numbers",
                                      "pending", "registers", "suspends", "throws",   "timers",   "waits"};

void make_directory(const fs::path& path) { fs::create_directory(path); }

std::string everything_in(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

struct Manner {
  std::uint64_t piece = 1 << 16;
  /// While this returns true, only wanted chunks come. It is called when the process runs and waits for none.
  std::function<bool()> holds_back = [] { return false; };
  /// The number of chunks that come; then it fails as if the next one were damaged.
  std::size_t most = ~std::size_t{0};
  /// The number of chunks from the middle that come before the required ones.
  std::size_t others_first = 0;
  /// Called once, when the process is made and stands still.
  std::function<void()> when_made = [] {};
};

/// Restores a version to a target, chunk by chunk.
base::Status restore(ImageTarget& target, const CapturedImage& captured, const Manner& manner) {
  target.comes_from({"image", 1, {}});
  PERDURE_TRY(const auto needed, target.accept(captured.entries));
  auto chunks = capture::cut(captured.bytes.size(), manner.piece);
  auto others = manner.others_first;
  bool made = false;
  for (std::size_t come = 0; !chunks.empty();) {
    auto next = chunks.begin();
    const bool has_begun = come * manner.piece >= captured.entries[0].bytes();
    if (has_begun && !std::exchange(made, has_begun)) manner.when_made();
    if (has_begun && !target.runs() && others > 0) {
      --others;
      next += static_cast<std::ptrdiff_t>(chunks.size() / 2);
    } else if (const auto wanted = target.wanted()) {
      next = std::find_if(chunks.begin(), chunks.end(),
                          [&](const auto& one) { return one.begin <= *wanted && *wanted < one.end(); });
      if (next == chunks.end()) next = chunks.begin();
    } else if (target.runs() && manner.holds_back()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: the program goes on without this chunk
      continue;
    }
    if (come++ == manner.most && target.runs()) return base::fail(PERDURE_CORRUPT, "chunk", "it is damaged");
    PERDURE_CHECK(target.write(*next, base::ConstByteSpan(captured.bytes).subspan(next->begin, next->length)));
    chunks.erase(next);
  }
  return {};
}

struct Lazily {
  base::Status outcome;
  bool ran_early = false;
  std::vector<std::string> notes;
};

Lazily resume_lazily(const CapturedImage& captured, const Manner& manner) {
  for (int tries = 0;; ++tries) {
    auto guard = Guard::start();
    if (!guard) return {base::fail(guard.error()), false, {}};
    Lazily resumed;
    ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
    target.be_lazy(*guard, [&](const segment::VersionId&) { resumed.ran_early = true; });
    resumed.outcome = restore(target, captured, manner);
    if (target.has_ended()) resumed.outcome = {};
    if (resumed.outcome) resumed.outcome = target.finish();
    if (resumed.outcome) resumed.outcome = target.release();
    resumed.notes = target.notes();
    if (resumed.outcome || resumed.outcome.error().code != PERDURE_EXISTS || tries == 50) return resumed;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // wait: for the number, before it is tried again
  }
}

/// Explains why no process may wait for its pages here; empty if one may.
std::string why_not_lazy() {
  const int faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC));
  uffdio_api api{UFFD_API, UFFD_FEATURE_EVENT_FORK, 0};
  const bool works = faults >= 0 && ::ioctl(faults, UFFDIO_API, &api) == 0;
  const int error = errno;
  if (faults >= 0) ::close(faults);
  return works ? "" : std::string("no process may wait for its pages here (CAP_SYS_PTRACE): ") + std::strerror(error);
}

#define SKIP_UNLESS_LAZY \
  if (const auto why = why_not_lazy(); !why.empty()) GTEST_SKIP() << why

class LazyRoundTrips : public testing::TestWithParam<const char*> {};

TEST_P(LazyRoundTrips, EndAsIfNothingHadBeen) {
  SKIP_UNLESS_LAZY;
  test_support::TemporaryDirectory here;
  Program undisturbed({PERDURE_AWKWARD, GetParam()}, here / "undisturbed");
  EXPECT_EQ(undisturbed.end(), 0);
  const auto seeds = test_support::many_seeds(1, 1, 1, 20);
  // A small program needs nearly all of its pages first: libraries' data and stacks. A large one is small at its
  // beginning.
  const bool is_large = std::string(GetParam()) == "grows" || std::string(GetParam()) == "mappings";
  std::uint64_t early = 0, resumed_any = 0, too_late = 0;
  for (std::uint64_t seed = seeds.begin; goes_on(seeds, seed, (is_large ? early : resumed_any) > 0); ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    std::mt19937_64 rng(seed);
    Program program({PERDURE_AWKWARD, GetParam()}, here / "output");
    wait_for_a_moment(rng, too_late);
    std::string so_far;
    const auto captured =
        capture_to_memory(program.process(), [&](const ProcessImage&) { so_far = everything_in(here / "output"); });
    if (captured) ::kill(program.process(), SIGKILL);
    if (!captured || program.end() != -SIGKILL) {  // it ended before
      ++too_late;
      continue;
    }
    std::ofstream(here / "output") << so_far;
    const auto resumed = resume_lazily(*captured, {.piece = std::uint64_t{4096} << rng() % 5});
    ASSERT_TRUE(resumed.outcome) << resumed.outcome.error().text();
    early += resumed.ran_early ? 1 : 0;
    ++resumed_any;
    program.lives_again();
    EXPECT_EQ(program.end(), 0);
    EXPECT_EQ(everything_in(here / "output"), everything_in(here / "undisturbed"));
  }
  EXPECT_TRUE(!seeds.usual || !is_large || early > 0) << "none ran before its pages were there";
}

INSTANTIATE_TEST_SUITE_P(Awkward, LazyRoundTrips, testing::ValuesIn(kLazyPrograms),
                         [](const auto& one) { return std::string(one.param); });

/// The program `missing`, captured and killed.
class MissingMemory : public testing::Test {
 protected:
  void begin(const char* what, const char* manner = "") {
    program_.emplace(std::vector<std::string>{PERDURE_MISSING, here_.path(), what, manner}, here_ / "output");
    ASSERT_TRUE(test_support::eventually("the program is ready", [this] { return has("ready"); }));
    auto captured = capture_to_memory(program_->process());
    ASSERT_TRUE(captured) << captured.error().text();
    captured_ = std::move(*captured);
    ::kill(program_->process(), SIGKILL);
    ASSERT_EQ(program_->end(), -SIGKILL);
    make("watch");
  }
  bool has(const char* name) const { return fs::exists(here_ / name); }
  void make(const char* name) const { make_directory(here_ / name); }
  std::string output() const { return everything_in(here_ / "output"); }
  test_support::TemporaryDirectory here_;
  std::optional<Program> program_;
  CapturedImage captured_;
};

TEST_F(MissingMemory, MayBeDroppedMovedSharedReadAndWrittenBeforeItComes) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("uses"));
  make("go");
  // It may end before this is asked.
  const auto resumed = resume_lazily(captured_, {.piece = 1 << 14, .holds_back = [&] { return !has("used"); }});
  ASSERT_TRUE(resumed.outcome) << resumed.outcome.error().text();
  EXPECT_TRUE(resumed.ran_early);
  program_->lives_again();
  const std::string root = "/proc/" + std::to_string(program_->process());
  EXPECT_THAT(proc_text(root + "/smaps"), testing::Not(testing::ContainsRegex("VmFlags:.* um")))
      << "nobody is asked for pages any more";
  for (const auto& fd : fs::directory_iterator(root + "/fd"))
    EXPECT_NE(fs::read_symlink(fd.path()).string(), "anon_inode:[userfaultfd]");
  make("end");
  EXPECT_EQ(program_->end(), 0) << output();
  EXPECT_EQ(output(), "wrong 0\n");
}

TEST_F(MissingMemory, MayBeDroppedMovedAndSharedWhileItComes) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("uses"));
  make("go");
  make("end");
  for (const std::uint64_t piece : {std::uint64_t{4096}, std::uint64_t{1} << 16, std::uint64_t{1} << 20}) {
    SCOPED_TRACE(piece);
    std::ofstream(here_ / "output");
    fs::remove(here_ / "used");
    const auto resumed = resume_lazily(captured_, {.piece = piece});
    ASSERT_TRUE(resumed.outcome) << resumed.outcome.error().text();
    program_->lives_again();
    EXPECT_EQ(program_->end(), 0) << output();
    EXPECT_EQ(output(), "wrong 0\n");
  }
}

TEST_F(MissingMemory, OfHugePagesOfWhichAPartCameEarlyIsNotTakenForZeros) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("looks", "huge"));
  make("end");
  for (const std::size_t others : {0, 1, 40}) {
    SCOPED_TRACE(others);
    const auto resumed = resume_lazily(captured_, {.others_first = others});
    ASSERT_TRUE(resumed.outcome) << resumed.outcome.error().text();
    EXPECT_TRUE(resumed.ran_early);
    program_->lives_again();
    EXPECT_EQ(program_->end(), 7);
    EXPECT_FALSE(has("lie"));
  }
}

// `ps` reads a command line like this, from the memory of a process.
TEST_F(MissingMemory, ThatSomebodyReadsBeforeItIsFollowedIsNotTakenForZeros) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("looks"));
  make("end");
  std::size_t read_pages = 0;
  const auto read_some = [&] {
    const os::Fd memory(
        ::open(("/proc/" + std::to_string(captured_.image.number) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    for (const PageRun& map : lazy_maps(captured_.image))
      for (std::uint64_t at = map.begin; at < map.end(); at += 100 * kPageBytes) {
        char byte = 1;
        if (::pread(memory.get(), &byte, 1, static_cast<off_t>(at)) == 1 && byte == 0) ++read_pages;
      }
  };
  const auto resumed = resume_lazily(captured_, {.when_made = read_some});
  ASSERT_TRUE(resumed.outcome) << resumed.outcome.error().text();
  EXPECT_GE(read_pages, 20U) << "pages of zeros were there";
  EXPECT_TRUE(resumed.ran_early) << "the others came later";
  program_->lives_again();
  EXPECT_EQ(program_->end(), 7);
  EXPECT_FALSE(has("lie"));
}

TEST_F(MissingMemory, ThatNeverComesEndsTheProcessBeforeItIsUsed) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("looks"));
  for (const std::size_t most : {8, 40, 90}) {
    SCOPED_TRACE(most);
    fs::remove(here_ / "looked");
    const auto resumed = resume_lazily(captured_, {.most = most});
    ASSERT_FALSE(resumed.outcome);
    EXPECT_EQ(resumed.outcome.error().code, PERDURE_CORRUPT) << resumed.outcome.error().text();
    EXPECT_TRUE(resumed.ran_early);
    EXPECT_EQ(::kill(captured_.image.number, 0), -1) << "it is still there";
    EXPECT_FALSE(has("lie"));
    EXPECT_FALSE(has("looked"));
  }
}

TEST_F(MissingMemory, EndsWithTheProcessThatIsKilledMeanwhile) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("looks"));
  bool killed = false;
  const auto resumed = resume_lazily(captured_, {.holds_back = [&] {
                                       if (!killed) ::kill(captured_.image.number, SIGKILL);
                                       killed = true;
                                       return false;
                                     }});
  EXPECT_TRUE(resumed.outcome) << resumed.outcome.error().text();
  program_->lives_again();
  EXPECT_EQ(program_->end(), -SIGKILL) << "how it ended is for its parent to ask";
}

TEST_F(MissingMemory, IsNotCapturedAsIfItWereEmpty) {
  SKIP_UNLESS_LAZY;
  ASSERT_NO_FATAL_FAILURE(begin("looks"));
  std::optional<base::Error> refused;
  const auto resumed = resume_lazily(captured_, {.holds_back = [&] {
                                       if (refused) return false;
                                       const auto again = capture_to_memory(captured_.image.number);
                                       EXPECT_FALSE(again);
                                       if (!again) refused = again.error();
                                       return false;
                                     }});
  ASSERT_TRUE(resumed.outcome) << resumed.outcome.error().text();
  program_->lives_again();
  ASSERT_TRUE(refused) << "there was no moment at which it waited for nothing";
  EXPECT_EQ(refused->code, PERDURE_BUSY) << refused->text();
  EXPECT_TRUE(capture_to_memory(program_->process())) << "when all are there";
  make("end");
  EXPECT_EQ(program_->end(), 7);
}

TEST(LazyPlan, LeavesOutWhatTheKernelCannotAskFor) {
  ProcessImage image;
  const auto add = [&](std::uint64_t page, const std::function<void(MapImage&)>& change) {
    MapImage map;
    map.begin = page * kPageBytes;
    map.end = (page + 10) * kPageBytes;
    change(map);
    image.maps.push_back(map);
  };
  add(100, [](MapImage&) {});
  add(200, [](MapImage& map) { map.file = 1; });
  add(300, [](MapImage& map) { map.shared = true; });
  add(400, [](MapImage& map) { map.flags = {"rd", "lo"}; });
  add(500, [](MapImage& map) { map.flags = {"wf"}; });
  add(600, [](MapImage& map) { map.policy = "bind:0"; });
  add(700, [](MapImage& map) { map.flags = {"rd", "gd"}; });
  const auto maps = lazy_maps(image);
  EXPECT_EQ(maps, (std::vector<PageRun>{{100 * kPageBytes, 10}, {700 * kPageBytes, 10}}));
  image.pages = {{0, {{100 * kPageBytes, 2}, {200 * kPageBytes, 2}}}, {1, {{700 * kPageBytes, 4}}}};
  ThreadImage thread;
  thread.rseq = {701 * kPageBytes - 8, 32, 0};  // in two pages
  image.threads.push_back(thread);
  const std::uint64_t record = 1000;
  EXPECT_EQ(needed_first(image, maps, record),
            (std::vector<capture::ChunkRange>{{record + 2 * kPageBytes, 4 * kPageBytes}}))
      << "pages of a file, and those in which the kernel notes where the thread runs";
}

TEST(LazyPlan, AddsAndSubtractsRanges) {
  std::vector<capture::ChunkRange> ranges;
  for (const capture::ChunkRange one : {capture::ChunkRange{10, 5}, {30, 5}, {20, 5}, {15, 5}, {0, 2}, {33, 0}})
    add_range(ranges, one);
  EXPECT_EQ(ranges, (std::vector<capture::ChunkRange>{{0, 2}, {10, 15}, {30, 5}}));
  EXPECT_EQ(without({1, 39}, ranges), (std::vector<capture::ChunkRange>{{2, 8}, {25, 5}, {35, 5}}));
  EXPECT_EQ(without({12, 3}, ranges), std::vector<capture::ChunkRange>());
  add_range(ranges, {1, 100});
  EXPECT_EQ(ranges, (std::vector<capture::ChunkRange>{{0, 101}}));
}

}  // namespace
}  // namespace perdure::process
