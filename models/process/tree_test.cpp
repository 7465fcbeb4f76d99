// Captures processes that work together, kills them and resumes them: they must end as if undisturbed.
#include <gmock/gmock.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "os/thread.hpp"
#include "process/guard.hpp"
#include "process/held_tree.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/tree_testing.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

constexpr int kRounds = test_support::unless_sanitized(60, 600);  // the sanitized capturing process is slower

std::vector<std::string> family() { return {PERDURE_FAMILY, std::to_string(kRounds)}; }

std::string whole_text_of(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

bool is_there(pid_t process) { return ::kill(process, 0) == 0; }

std::vector<pid_t> numbers_of(const TreeImage& tree) {
  std::vector<pid_t> all;
  for (const Kin& one : tree.all_kin()) all.push_back(one.number);
  return all;
}

/// A child of the test; killed at the end with all its descendants.
class Ancestor {
 public:
  explicit Ancestor(const std::function<void()>& work) {
    std::array<int, 2> begun{};
    EXPECT_EQ(::pipe(begun.data()), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // Drops the test's descriptors, whose other ends other processes have.
      const int nothing = ::open("/dev/null", O_RDWR);
      for (int standard = 0; standard < 3; ++standard) ::dup2(nothing, standard);
      const int ready = begun[1];
      ::close(begun[0]);
      for (int other = 3; other < 256; ++other)
        if (other != ready) ::close(other);
      work();
      (void)!::write(ready, "", 1);
      ::close(ready);
      for (;;) ::pause();
    }
    ::close(begun[1]);
    char byte = 1;
    EXPECT_EQ(::read(begun[0], &byte, 1), 1);
    EXPECT_EQ(::read(begun[0], &byte, 1), 0) << "all have closed it";
    ::close(begun[0]);
  }
  ~Ancestor() {
    for (const pid_t one : list_tree(process_)) ::kill(one, SIGKILL);
    Adoption::wait_for_all();
  }
  Ancestor(const Ancestor&) = delete;
  Ancestor& operator=(const Ancestor&) = delete;
  pid_t process() const { return process_; }

 private:
  pid_t process_ = 0;
};

/// Makes a grandchild that waits without end.
void wait_in_a_child(const std::function<void()>& first = [] {}) {
  if (::fork() != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  first();
  ::close_range(3, ~0U, 0);
  for (;;) ::pause();
}

class Trees : public testing::Test {
 protected:
  std::string out(const std::string& name) { return here_ / name; }
  std::string undisturbed() {
    Program program(family(), out("undisturbed"));
    EXPECT_EQ(program.end(), 0);
    return whole_text_of(out("undisturbed"));
  }
  Adoption adoption_;
  test_support::TemporaryDirectory here_;
};

TEST_F(Trees, EndAsIfNothingHadBeen) {
  const std::string expected = undisturbed();
  ASSERT_THAT(expected, HasSubstr("wrong 0"));
  const auto seeds = test_support::many_seeds(1, 8, 2, 100);
  std::uint64_t resumed = 0, whole = 0, too_late = 0;
  for (std::uint64_t seed = seeds.begin; goes_on(seeds, seed, whole > 0); ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    std::mt19937_64 rng(seed);
    Program program(family(), out("output"));
    wait_for_a_moment(rng, too_late);
    std::string so_far;
    const auto captured = capture_tree_to_memory(program.process(), [&] {
      so_far = whole_text_of(out("output"));
      ::kill(program.process(), SIGKILL);
    });
    if (!captured) {  // it ended before, or the leader of a group was gone before the others
      const bool is_ending = captured.error().text().find("whose leader has ended") != std::string::npos;
      ASSERT_TRUE(is_ending || captured.error().code == PERDURE_NOT_FOUND) << captured.error().text();
      ++too_late;
      continue;
    }
    EXPECT_EQ(program.end(), -SIGKILL);
    Adoption::wait_for_all();
    EXPECT_EQ(whole_text_of(out("output")), so_far);
    const auto again = resume_tree_from_memory(*captured, 4096 << rng() % 10);
    ASSERT_TRUE(again) << again.error().text();
    program.lives_again();
    EXPECT_EQ(program.end(), 0);
    EXPECT_EQ(whole_text_of(out("output")), expected);
    Adoption::wait_for_all();
    ++resumed;
    whole += captured->tree.processes.size() == 4 && captured->tree.ended.size() == 2 ? 1 : 0;
  }
  EXPECT_TRUE(!seeds.usual || resumed > 0) << "none was captured before its end";
  EXPECT_TRUE(!seeds.usual || whole > 0) << "none was captured with all of its children";
}

// On a busy machine a family may end before it is captured; then it starts another one.
TEST_F(Trees, ThatGoOnNoticeNothing) {
  const std::string expected = undisturbed();
  int captures = 0;
  EXPECT_TRUE(test_support::eventually("a family is captured before its end", [&] {
    Program program(family(), out("output"));
    for (int round = 0; round < 10; ++round) {
      const auto captured = capture_tree_to_memory(program.process());
      EXPECT_TRUE(captured || captured.error().code == PERDURE_NOT_FOUND) << captured.error().text();
      captures += captured ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // wait: they go on between two captures
    }
    EXPECT_EQ(program.end(), 0);
    EXPECT_EQ(whole_text_of(out("output")), expected);
    return captures > 0 || HasFailure();
  }));
}

TEST_F(Trees, KeepTogetherWhatTheyHaveTogether) {
  Program program({PERDURE_FAMILY, "0", "wait"}, out("output"));
  base::Result<CapturedTree> captured;
  do captured = capture_tree_to_memory(program.process());
  while (captured && captured->tree.processes.size() < 4);
  ASSERT_TRUE(captured) << captured.error().text();
  ASSERT_TRUE(captured = capture_tree_to_memory(program.process(), [&] { ::kill(program.process(), SIGKILL); }));
  EXPECT_EQ(program.end(), -SIGKILL);
  Adoption::wait_for_all();
  const TreeImage& tree = captured->tree;
  EXPECT_EQ(tree.objects.size(), 3U) << "the memory that all have";
  std::uint64_t pages = 0;
  for (const auto& image : tree.processes)
    for (const auto& map : image.maps)
      for (const auto& node : image.pages)
        for (const auto& run : node.runs) pages += map.object != 0 && run.begin >= map.begin && run.begin < map.end;
  EXPECT_EQ(pages, 1U) << "is kept once";
  constexpr std::uint64_t kZeros = 256 * base::KiB;  // at least, of each
  EXPECT_LT(captured->bytes.size() + tree.processes.size() * kZeros, tree.page_bytes()) << "zeros are left out";
  ASSERT_EQ(tree.ended.size(), 2U);
  EXPECT_EQ(tree.ended[0].status, 42 << 8);
  EXPECT_EQ(tree.ended[1].status, SIGTERM);
  const auto again = resume_tree_from_memory(*captured);
  ASSERT_TRUE(again) << again.error().text();
  program.lives_again();
  ::kill(program.process(), SIGUSR1);
  EXPECT_EQ(program.end(), 0);
  EXPECT_THAT(whole_text_of(out("output")), HasSubstr("wrong 0"));
}

TEST_F(Trees, AreHeldByTheGuardUntilItIsToldToLetThemGo) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard) << guard.error().text();
  Program program({PERDURE_FAMILY, "0", "wait"}, out("output"));
  const auto tracer_of = [](const ProcessImage& image) {
    return first_number(proc_text("/proc/" + std::to_string(image.number) + "/status"), "TracerPid");
  };
  for (bool whole = false; !whole;) {
    const auto held = guard->hold_tree({program.process(), {}});
    ASSERT_TRUE(held) << held.error().text();
    for (const ProcessImage& image : held->read.tree.processes) EXPECT_NE(tracer_of(image), 0U);
    ASSERT_TRUE(guard->release());
    for (const ProcessImage& image : held->read.tree.processes) EXPECT_EQ(tracer_of(image), 0U);
    whole = held->read.tree.processes.size() == 4;
  }
  ::kill(program.process(), SIGUSR1);
  EXPECT_EQ(program.end(), 0);
  EXPECT_THAT(whole_text_of(out("output")), HasSubstr("wrong 0"));
}

// A thread of the guard holds the tree. It is the kernel's tracer for a child that nobody has seen before.
TEST(HeldTrees, TakeAChildThatBeganSinceTheyWereLookedAt) {
  Ancestor ancestor([] {
    ::signal(SIGUSR1, [](int) {
      if (::fork() == 0)
        for (;;) ::pause();
    });
  });
  const auto aside = os::run_aside("hold", [&] {
    const auto seen = look_at_tree(ancestor.process(), {});
    ASSERT_TRUE(seen) << seen.error().text();
    ::kill(ancestor.process(), SIGUSR1);
    ASSERT_TRUE(test_support::eventually("it has a child", [&] { return !children_of(ancestor.process()).empty(); }));
    auto held = HeldTree::seize(ancestor.process());
    ASSERT_TRUE(held) << held.error().text();
    const auto read = held->read({}, *seen);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->tree.processes.size(), 2U);
    EXPECT_TRUE(held->release());
  });
  EXPECT_TRUE(aside);
}

/// The captured image of a program that has ended.
class KeptTree : public Trees {
 protected:
  void SetUp() override {
    Program program({PERDURE_FAMILY, "0", "wait"}, out("output"));
    bool whole = false;
    while (!whole) {
      auto captured = capture_tree_to_memory(program.process());
      ASSERT_TRUE(captured) << captured.error().text();
      captured_ = std::move(*captured);
      whole = captured_.tree.processes.size() == 4 && captured_.tree.ended.size() == 2;
    }
    ::kill(program.process(), SIGKILL);
    EXPECT_EQ(program.end(), -SIGKILL);
    Adoption::wait_for_all();
  }
  void expect_none_left() {
    Adoption::wait_for_all();
    for (const pid_t process : numbers_of(captured_.tree)) EXPECT_FALSE(is_there(process)) << process;
  }
  CapturedTree captured_;
};

TEST_F(KeptTree, IsRefusedWhenANumberOfItIsTaken) {
  for (pid_t number : numbers_of(captured_.tree)) {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
    arguments.set_tid_size = 1;
    const long other = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (other == 0)
      for (;;) ::syscall(SYS_pause);
    ASSERT_EQ(other, number) << "somebody else has it";
    {
      TreeTarget target(anything);
      const auto resumed = write_tree_to(target, captured_, base::MiB);
      ASSERT_FALSE(resumed);
      EXPECT_EQ(resumed.error().code, PERDURE_EXISTS) << resumed.error().text();
      EXPECT_THAT(resumed.error().text(), HasSubstr("process " + std::to_string(number)));
    }
    for (const pid_t one : numbers_of(captured_.tree)) EXPECT_EQ(is_there(one), one == number);
    ::kill(number, SIGKILL);
    expect_none_left();
  }
}

TEST_F(KeptTree, LeavesNobodyWhenItIsNotBroughtBackWhole) {
  for (const bool finished : {false, true}) {
    TreeTarget target(anything);
    ASSERT_TRUE(write_tree_to(target, captured_, base::MiB));
    const auto whole = finished ? target.finish() : base::Status();
    ASSERT_TRUE(whole) << whole.error().text();
    for (const pid_t process : numbers_of(captured_.tree)) EXPECT_TRUE(is_there(process)) << process;
    ASSERT_TRUE(target.accept(captured_.entries)) << "begins anew";
    for (const pid_t process : numbers_of(captured_.tree)) EXPECT_FALSE(is_there(process)) << process;
  }
}

TEST_F(KeptTree, RefusesARecordThatIsWrong) {
  const auto wrong = [&](const std::function<void(TreeImage&)>& change) {
    TreeImage tree = captured_.tree;
    change(tree);
    const auto decoded = decode_tree(encode_tree(tree), "tree");
    return decoded ? std::string() : decoded.error().text();
  };
  EXPECT_EQ(wrong([](TreeImage&) {}), "");
  EXPECT_THAT(wrong([](TreeImage& tree) { ++tree.format; }), HasSubstr("format"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.kin.pop_back(); }), HasSubstr("'kin'"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.kin[1].parent = 1; }), HasSubstr("'kin'"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.kin[1].end_signal = 65; }), HasSubstr("'end_signal'"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.ended[0].status = SIGCONT; }), HasSubstr("'status'"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.ended[0].kin.number = tree.kin[0].number; }), HasSubstr("twice"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.objects.push_back({1, 7, 0, 0}); }), HasSubstr("'objects'"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.mapped.push_back({0, 7, 0, 0}); }), HasSubstr("'mapped'"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.files[0].of_thing = 99; }), HasSubstr("do not have"));
  EXPECT_THAT(wrong([](TreeImage& tree) { tree.peers.push_back({0, 0, 1, 0}); }), HasSubstr("no pair"));
}

std::string refusal_of(const std::function<void()>& work) {
  const Ancestor child(work);
  const auto captured = capture_tree_to_memory(child.process());
  return captured ? "" : captured.error().text();
}

TEST_F(Trees, AreRefusedForWhatCannotComeBack) {
  EXPECT_EQ(refusal_of([] { wait_in_a_child(); }), "");
  EXPECT_THAT(refusal_of([] {
                wait_in_a_child([] {
                  const pid_t leader = ::fork();
                  if (leader == 0) ::_exit(::setpgid(0, 0));
                  ::setpgid(leader, leader);
                  ::setpgid(0, leader);
                  ::waitpid(leader, nullptr, 0);
                });
                (void)test_support::eventually("the child has another group",
                                               [] { return ::getpgid(list_tree(::getpid()).at(1)) != ::getpgrp(); });
              }),
              HasSubstr("whose leader has ended"));
  EXPECT_THAT(refusal_of([] { wait_in_a_child([] { ::socket(AF_INET, SOCK_STREAM, 0); }); }), "");
}

TEST_F(Trees, WithoutTheirChildrenAreRefusedAndTheMessageSaysHow) {
  const Ancestor child([] { wait_in_a_child(); });
  const auto seen = look_for_obstacles(child.process(), {});
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().text(), HasSubstr("--tree"));
}

}  // namespace
}  // namespace perdure::process
