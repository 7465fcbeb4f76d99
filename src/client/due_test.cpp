// These tests check why a checkpoint is due.
#include "client/due.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>

#include "config/effective.hpp"
#include "os/system.hpp"
#include "perdure/perdure.h"
#include "store/halt_record.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

TEST(Halting, IsForProgramsThatRunAtThatTime) {
  EXPECT_FALSE(halts({0, 100, 300})) << "nobody asks";
  EXPECT_TRUE(halts({200, 100, 300}));
  EXPECT_TRUE(halts({200, 200, 200}));
  EXPECT_FALSE(halts({200, 100, 199})) << "not yet";
  EXPECT_FALSE(halts({200, 201, 300})) << "the program began later";
}

TEST(DueReasons, AreServedByTheNextCheckpointUnlessTheEndIsAskedFor) {
  EXPECT_EQ(due_reasons({}), 0U);
  EXPECT_EQ(due_reasons({1, 0, false, false}), unsigned{PERDURE_DUE_SIGNAL});
  EXPECT_EQ(due_reasons({1, 1, false, false}), 0U);
  EXPECT_EQ(due_reasons({2, 1, false, false}), unsigned{PERDURE_DUE_SIGNAL}) << "it came during the checkpoint";
  EXPECT_EQ(due_reasons({1, 1, true, false}), unsigned{PERDURE_DUE_SIGNAL | PERDURE_DUE_END});
  EXPECT_EQ(due_reasons({0, 0, false, true}), unsigned{PERDURE_DUE_HALT | PERDURE_DUE_END});
  EXPECT_EQ(due_reasons({3, 2, true, true}), unsigned{PERDURE_DUE_SIGNAL | PERDURE_DUE_HALT | PERDURE_DUE_END});
}

config::Config with(const std::string& signals) {
  return *config::effective_config(("store.path=/nowhere;signals=" + signals).c_str());
}

std::atomic<int> heard{0};
void program_hears(int) { ++heard; }
void program_hears_who(int, siginfo_t* info, void*) { heard += info->si_pid == ::getpid() ? 10 : 1000; }

/// Keeps the action of a signal, and sets it again at the end of the test.
class Action {
 public:
  Action(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction mine = {};
    mine.sa_handler = handler;
    ::sigaction(signal, &mine, &before_);
  }
  Action(int signal, void (*handler)(int, siginfo_t*, void*)) : signal_(signal) {
    struct sigaction mine = {};
    mine.sa_sigaction = handler;
    mine.sa_flags = SA_SIGINFO;
    ::sigaction(signal, &mine, &before_);
  }
  ~Action() { ::sigaction(signal_, &before_, nullptr); }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;
  static void (*now(int signal))(int) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler;
  }

 private:
  int signal_;
  struct sigaction before_ = {};
};

TEST(SignalsOfHandles, AreTakenOnlyWhereThatIsAskedFor) {
  const Action mine(SIGTERM, program_hears);
  heard = 0;
  {
    Due due(with("none"));
    ASSERT_EQ(::raise(SIGTERM), 0);
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(due.here(nullptr), 0U);
    EXPECT_EQ(Action::now(SIGTERM), program_hears);
  }
}

TEST(SignalsOfHandles, AskForACheckpointAndForTheEnd) {
  Due due(with("checkpoint"));
  EXPECT_EQ(due.here(nullptr), 0U);
  ASSERT_EQ(::raise(SIGUSR1), 0);
  EXPECT_EQ(due.here(nullptr), unsigned{PERDURE_DUE_SIGNAL});
  const std::uint64_t asked = due.asked();
  ASSERT_EQ(::raise(SIGUSR1), 0);  // during the checkpoint
  due.served(asked);
  EXPECT_EQ(due.here(nullptr), unsigned{PERDURE_DUE_SIGNAL});
  due.served(due.asked());
  EXPECT_EQ(due.here(nullptr), 0U);
  ASSERT_EQ(::raise(SIGTERM), 0);
  due.served(due.asked());
  EXPECT_EQ(due.here(nullptr), unsigned{PERDURE_DUE_SIGNAL | PERDURE_DUE_END})
      << "the end is not served by a checkpoint";
}

TEST(SignalsOfHandles, GoOnToTheProgramsHandlersAndAreGivenBack) {
  const Action term(SIGTERM, program_hears), one(SIGUSR1, program_hears_who);
  heard = 0;
  {
    auto first = std::make_unique<Due>(with("checkpoint"));
    const Due second(with("checkpoint"));
    ASSERT_EQ(::raise(SIGTERM), 0);
    EXPECT_EQ(heard, 1);
    ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
    EXPECT_EQ(heard, 11) << "with who sent it";
    EXPECT_EQ(first->asked(), second.asked()) << "all handles hear all";
    first.reset();
    EXPECT_NE(Action::now(SIGTERM), program_hears) << "one handle is left";
  }
  EXPECT_EQ(Action::now(SIGTERM), program_hears);
  ASSERT_EQ(::raise(SIGTERM), 0);
  EXPECT_EQ(heard, 12);
}

TEST(SignalsOfHandles, ThatAreIgnoredStaySo) {
  const Action ignored(SIGINT, SIG_IGN);
  Due due(with("checkpoint"));
  ASSERT_EQ(::raise(SIGINT), 0);
  EXPECT_EQ(due.here(nullptr), 0U);
}

TEST(SignalsOfHandles, AHandlerThatTheProgramInstalledLaterStays) {
  const Action before(SIGTERM, SIG_DFL);
  {
    const Due due(with("checkpoint"));
    std::signal(SIGTERM, program_hears);
  }
  EXPECT_EQ(Action::now(SIGTERM), program_hears);
}

// The child has no handle: a signal ends it, as it ends any program.
TEST(SignalsOfHandles, AreNotTakenFromAChildThatForks) {
  const Action plain(SIGTERM, SIG_DFL);
  const Due due(with("checkpoint"));
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST(SignalsOfHandles, ThatComeAgainEndTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    const Signals signals(std::chrono::nanoseconds(-1));  // so that none come together
    (void)::raise(SIGTERM);
    if (!signals.end_asked()) ::_exit(2);
    (void)::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

/// A handler that passes a signal on to the one that was there before, as those of other libraries do.
struct PassesOn {
  static inline struct sigaction before = {};
  static inline int came = 0;
  static void hear(int signal, siginfo_t* info, void* context) {
    if (++came > 10) ::_exit(3);  // it goes round
    if ((before.sa_flags & SA_SIGINFO) != 0) before.sa_sigaction(signal, info, context);
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler != SIG_DFL) before.sa_handler(signal);
  }
  static void install() {
    struct sigaction mine = {};
    mine.sa_sigaction = hear;
    mine.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGTERM, &mine, &before);
  }
};

TEST(SignalsOfHandles, ThatAProgramPutsBackLaterEndItAsBefore) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    {
      const Signals signals;
      PassesOn::install();
    }
    ::sigaction(SIGTERM, &PassesOn::before, nullptr);
    (void)::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST(SignalsOfHandles, ThatAProgramPassesOnAreHeardOnceByALaterHandle) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    {
      const Signals signals;
      PassesOn::install();
    }
    {
      const Signals signals;
      const std::uint64_t before = signals.asked();
      (void)::raise(SIGTERM);
      if (PassesOn::came != 1 || signals.asked() != before + 1) ::_exit(2);
    }
    (void)::raise(SIGTERM);  // no process takes it any more
    ::_exit(PassesOn::came);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST(SignalsOfHandles, AreTakenFromAHandlerThatCameDuringAnEarlierHandle) {
  const Action before(SIGTERM, SIG_DFL);
  heard = 0;
  {
    const Signals first;
    std::signal(SIGTERM, program_hears);  // and passes nothing on
  }
  {
    const Signals second;
    const std::uint64_t asked = second.asked();
    ASSERT_EQ(::raise(SIGTERM), 0);
    EXPECT_EQ(second.asked(), asked + 1);
    EXPECT_EQ(heard, 1);
  }
  EXPECT_EQ(Action::now(SIGTERM), program_hears);
}

TEST(HaltOfAName, IsHeardByProgramsThatUseIt) {
  const test_support::TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "store");
  auto store = store::make_store(directory / "store").value();
  for (const char* name : {"mine", "other"}) ASSERT_TRUE(store->incarnation(name, store::Missing::make));
  Due due(with("none"));
  due.uses("mine");
  ASSERT_TRUE(store::set_halt(*store, "other", os::wall_clock_ns()));
  EXPECT_EQ(due.here(store.get()), 0U);
  ASSERT_TRUE(store::set_halt(*store, "mine", os::wall_clock_ns()));
  EXPECT_EQ(due.here(nullptr), 0U) << "another rank looks";
  EXPECT_TRUE(test_support::eventually("it is seen",
                                       [&] { return due.here(store.get()) == (PERDURE_DUE_HALT | PERDURE_DUE_END); }));
  ASSERT_TRUE(store::set_halt(*store, "mine", 0));
  EXPECT_TRUE(test_support::eventually("it was taken back", [&] { return due.here(store.get()) == 0; }));
  Due later(with("none"));
  later.uses("mine");
  ASSERT_TRUE(store::set_halt(*store, "mine", 1));
  EXPECT_EQ(later.here(store.get()), 0U) << "that was before it began";
}

}  // namespace
}  // namespace perdure::client
