// Tests copying of pages while a program runs: the resumed program must have its state of the moment when it stood
// still.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "process/captured_testing.hpp"
#include "process/guard.hpp"
#include "process/proc_text.hpp"
#include "process/staged_pages.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

constexpr std::array kPreCopied = {"crowd",     "grows",  "handlers", "mappings", "numbers",
                                   "registers", "throws", "waits",    "zeros"};

std::string all_of_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

std::vector<std::string> awkward(const std::string& name) { return {PERDURE_AWKWARD, name}; }

bool kernel_follows() {
  static const bool follows = [] {
    test_support::TemporaryDirectory here;
    Program program(awkward("suspends"), here / "output");
    auto tracee = Tracee::seize(program.process());
    return tracee && DirtyTracking::begin(*tracee).has_value();
  }();
  return follows;
}

/// Calls `between` while the process is followed and runs, and `stands` when it stands still.
base::Result<CapturedImage> capture_pre_copied(pid_t process, const std::function<void()>& between,
                                               const std::function<void()>& stands) {
  PERDURE_TRY(auto guard, Guard::start());
  PERDURE_TRY(const auto followed, guard.follow({process, {}}));
  PERDURE_TRY(auto staged, StagedPages::make(process, followed.written));
  PERDURE_CHECK(staged.take(followed.written));
  between();
  PERDURE_TRY(const auto again, guard.written());
  PERDURE_CHECK(staged.take(again.written));
  between();
  PERDURE_TRY(const auto held, guard.hold({process, {}, false, true}));
  PERDURE_CHECK(staged.complete(held.read.image, held.unwritten));
  stands();
  PERDURE_CHECK(guard.release());
  PERDURE_TRY(const auto described, staged.describe());
  CapturedImage captured{described.entries, {}};
  for (std::uint64_t at = 0; at < described.bytes; at += 100'000)  // as chunks, in any pieces
    PERDURE_CHECK(
        staged.read({at, std::min<std::uint64_t>(100'000, described.bytes - at)}, [&](base::ConstByteSpan part) {
          captured.bytes.insert(captured.bytes.end(), part.begin(), part.end());
          return base::Status();
        }));
  return captured;
}

class PreCopies : public testing::TestWithParam<const char*> {};

TEST_P(PreCopies, EndAsIfNothingHadBeen) {
  if (!kernel_follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  test_support::TemporaryDirectory here;
  std::string expected;
  {
    Program program(awkward(GetParam()), here / "undisturbed");
    ASSERT_EQ(program.end(), 0);
    expected = all_of_file(here / "undisturbed");
  }
  const auto seeds = test_support::many_seeds(1, 2, 1, 20);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    std::mt19937_64 rng(seed);
    const auto pause = [&] {
      std::this_thread::sleep_for(std::chrono::microseconds(rng() % 30'000));  // wait: a drawn moment
    };
    Program program(awkward(GetParam()), here / "output");
    pause();
    std::string so_far;
    const auto captured = capture_pre_copied(program.process(), pause, [&] { so_far = all_of_file(here / "output"); });
    if (!captured) {  // it ended before
      ASSERT_EQ(captured.error().code, PERDURE_NOT_FOUND) << captured.error().text();
      continue;
    }
    ::kill(program.process(), SIGKILL);
    if (program.end() != -SIGKILL) continue;
    std::ofstream(here / "output") << so_far;
    const auto again = resume_from_memory(*captured);
    ASSERT_TRUE(again) << again.error().text();
    program.lives_again();
    EXPECT_EQ(program.end(), 0);
    EXPECT_EQ(all_of_file(here / "output"), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Awkward, PreCopies, testing::ValuesIn(kPreCopied),
                         [](const auto& one) { return std::string(one.param); });

std::size_t count_descriptors(pid_t process) {
  std::size_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/" + std::to_string(process) + "/fd"), end; at != end; ++at)
    ++count;
  return count;
}

bool is_followed(pid_t process) {
  return proc_text("/proc/" + std::to_string(process) + "/smaps").find(" uw") != std::string::npos;
}

/// A program that lives until it is told to end.
struct Followable {
  Followable() : program({PERDURE_UNUSUAL, "until_told"}, here / "output") { wait_for_text(here / "output", "ready"); }
  int end() {
    ::kill(program.process(), SIGUSR1);
    return program.end();
  }
  test_support::TemporaryDirectory here;
  Program program;
};

TEST(FollowedProcess, HasNothingLeftBehind) {
  if (!kernel_follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  Followable one;
  const pid_t process = one.program.process();
  const std::size_t descriptors = count_descriptors(process);
  {
    auto guard = Guard::start();
    ASSERT_TRUE(guard);
    const auto followed = guard->follow({process, {}});
    ASSERT_TRUE(followed) << followed.error().text();
    EXPECT_TRUE(is_followed(process));
    EXPECT_EQ(count_descriptors(process), descriptors) << "it has closed its own";
    ASSERT_TRUE(guard->hold({process, {}}));
    ASSERT_TRUE(guard->release());
    EXPECT_FALSE(is_followed(process));
    ASSERT_TRUE(guard->follow({process, {}}));
    EXPECT_TRUE(is_followed(process));
  }
  EXPECT_FALSE(is_followed(process)) << "nobody follows it any more";
  EXPECT_EQ(count_descriptors(process), descriptors);
  EXPECT_EQ(one.end(), 0);
  EXPECT_THAT(all_of_file(one.here / "output"), testing::HasSubstr("wrong 0"));
}

TEST(FollowedProcess, GoesOnWhenWhoFollowsItIsKilled) {
  if (!kernel_follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  Followable one;
  const pid_t process = one.program.process();
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t follower = ::fork();
  if (follower == 0) {
    auto tracee = Tracee::seize(process);
    auto tracking = tracee ? DirtyTracking::begin(*tracee) : base::Result<DirtyTracking>(base::fail(tracee.error()));
    const bool follows = tracking && tracee->release() && tracking->take_written();
    (void)!::write(ready[1], follows ? "y" : "n", 1);
    for (;;) ::pause();
  }
  char answer = 0;
  EXPECT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(is_followed(process));
  ::kill(follower, SIGKILL);
  ::waitpid(follower, nullptr, 0);
  EXPECT_FALSE(is_followed(process));
  EXPECT_EQ(one.end(), 0);
  EXPECT_THAT(all_of_file(one.here / "output"), testing::HasSubstr("wrong 0"));
  for (const int end : ready) ::close(end);
}

/// A child that writes its pages on request.
struct Writer {
  static constexpr std::size_t kPages = 1500;
  Writer() {
    memory = static_cast<std::uint64_t*>(
        ::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(::pipe(say.data()), 0);
    EXPECT_EQ(::pipe(done.data()), 0);
    process = ::fork();
    if (process != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (std::size_t page = 0; page < kPages; ++page) at(page) = page + 1;
    for (std::size_t page = 0;; at(page) += 1'000'000) {
      if (::write(done[1], "d", 1) != 1 || ::read(say[0], &page, sizeof page) != sizeof page) ::_exit(0);
      if (page < kPages) continue;
      ::munmap(memory, kPageBytes);  // other memory at the same address, which is not followed
      (void)::mmap(memory, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      page = 0;
    }
  }
  ~Writer() {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    ::munmap(memory, kPages * kPageBytes);
    for (const int end : {say[0], say[1], done[0], done[1]}) ::close(end);
  }
  std::uint64_t& at(std::size_t page) const { return memory[page * kPageBytes / sizeof *memory]; }
  void wait() const {
    char byte = 0;
    EXPECT_EQ(::read(done[0], &byte, 1), 1);
  }
  void write(std::size_t page) const {
    EXPECT_EQ(::write(say[1], &page, sizeof page), static_cast<ssize_t>(sizeof page));
    wait();
  }
  std::uint64_t* memory = nullptr;
  std::array<int, 2> say{}, done{};
  pid_t process = 0;
};

/// Returns those of `runs` that are the writer's, by their numbers.
std::vector<std::size_t> numbers_of(const std::vector<PageRun>& runs, const Writer& writer) {
  const auto begin = reinterpret_cast<std::uint64_t>(writer.memory);
  std::vector<std::size_t> numbers;
  for (const PageRun& run : runs)
    for (std::uint64_t at = run.begin; at < run.end(); at += kPageBytes)
      if (at >= begin && at < begin + Writer::kPages * kPageBytes) numbers.push_back((at - begin) / kPageBytes);
  return numbers;
}

TEST(FollowedProcess, SaysWhatItWrote) {
  if (!kernel_follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  const Writer writer;
  writer.wait();
  auto tracee = Tracee::seize(writer.process).value();
  auto tracking = DirtyTracking::begin(tracee).value();
  ASSERT_TRUE(tracee.release());
  EXPECT_EQ(numbers_of(tracking.take_written().value(), writer).size(), Writer::kPages);
  for (const std::size_t page : {3, 4, 700}) writer.write(page);
  EXPECT_EQ(numbers_of(tracking.take_written().value(), writer), (std::vector<std::size_t>{3, 4, 700}));
  EXPECT_TRUE(numbers_of(tracking.take_written().value(), writer).empty());
  writer.write(5);
  writer.write(Writer::kPages);  // page 0 is of another mapping now
  tracee = Tracee::seize(writer.process).value();
  const auto pages = tracking.look(writer.process);
  EXPECT_EQ(numbers_of(pages.present, writer).size(), Writer::kPages);
  const auto unwritten = numbers_of(pages.unwritten, writer);
  EXPECT_EQ(unwritten.size(), Writer::kPages - 2);
  EXPECT_FALSE(std::binary_search(unwritten.begin(), unwritten.end(), 0));
  EXPECT_FALSE(std::binary_search(unwritten.begin(), unwritten.end(), 5));
  EXPECT_EQ(numbers_of(tracking.take_written().value(), writer), std::vector<std::size_t>{5});
}

TEST(FollowedProcess, HasEachPageOnceHoweverScatteredItWrites) {
  if (!kernel_follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  const Writer writer;
  writer.wait();
  auto tracee = Tracee::seize(writer.process).value();
  auto tracking = DirtyTracking::begin(tracee).value();
  ASSERT_TRUE(tracee.release());
  (void)tracking.take_written();
  constexpr std::size_t kWritten = Writer::kPages / 2 - 100;  // more runs than the kernel lists at once
  for (std::size_t page = 0; page < 2 * kWritten; page += 2) writer.write(page);
  tracee = Tracee::seize(writer.process).value();
  const auto pages = tracking.look(writer.process);
  EXPECT_EQ(numbers_of(pages.present, writer).size(), Writer::kPages);
  EXPECT_EQ(numbers_of(pages.unwritten, writer).size(), Writer::kPages - kWritten);
  EXPECT_EQ(numbers_of(tracking.take_written().value(), writer).size(), kWritten);
}

TEST(Gathering, NamesWhatCannotBeRead) {
  const Writer writer;
  writer.wait();
  const auto begin = reinterpret_cast<std::uint64_t>(writer.memory);
  std::vector<std::byte> here(Writer::kPages * kPageBytes);
  std::vector<GatheredPart> parts;
  for (std::size_t page = 0; page < Writer::kPages; page += 2)
    parts.push_back({begin + page * kPageBytes, kPageBytes, here.data() + page * kPageBytes});
  parts.push_back({kPageBytes, kPageBytes, here.data() + kPageBytes});
  for (const unsigned threads : {1U, 3U}) {
    std::fill(here.begin(), here.end(), std::byte{0});
    const auto failed = gather(writer.process, parts, threads).value();
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].address, kPageBytes);
    for (std::size_t page = 0; page < Writer::kPages; page += 2) {
      std::uint64_t word = 0;
      std::memcpy(&word, here.data() + page * kPageBytes, sizeof word);
      ASSERT_EQ(word, page + 1);
    }
  }
}

}  // namespace
}  // namespace perdure::process
