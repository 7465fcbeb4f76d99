#include "os/hooks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::InstalledHooks;
using test_support::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

struct CallRecorder : Hooks {
  int before(const Operation& operation) override {
    operations.push_back(operation);
    written.append(reinterpret_cast<const char*>(operation.data.data()), operation.data.size());
    return refuse;
  }
  void after(const Operation& operation, int error_number) override {
    results.push_back(std::string(operation.call) + " " + std::to_string(error_number));
  }
  std::vector<Operation> operations;
  std::vector<std::string> results;
  std::string written;
  int refuse = 0;
};

TEST(Hooks, AreAskedBeforeEveryCallAndToldItsOutcome) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  CallRecorder recorder;
  {
    const InstalledHooks installed(recorder);
    const File file = File::open(path, Open::create_new).value();
    ASSERT_TRUE(file.write(7, base::as_bytes("data")));
    ASSERT_TRUE(file.truncate(3));
    ASSERT_TRUE(file.sync());
    ASSERT_TRUE(rename_path(path, path + "2"));
    ASSERT_TRUE(remove_file(path));  // it is already gone
  }
  EXPECT_THAT(recorder.results, ElementsAre("open 0", "fstat 0", "pwrite 0", "ftruncate 0", "fsync 0", "rename 0",
                                            "unlink " + std::to_string(ENOENT)));
  EXPECT_EQ(recorder.operations[2].path, path);
  EXPECT_EQ(recorder.operations[2].offset, 7U);
  EXPECT_EQ(recorder.written, "data");
  EXPECT_EQ(recorder.operations[3].length, 3U);
  EXPECT_EQ(recorder.operations[5].new_path, path + "2");
  EXPECT_FALSE(HeldHooks());
}

// The installer destroys removed hooks, while an engine's thread may have been asking them.
TEST(Hooks, ThatAreRemovedAreNotAskedAnyMore) {
  struct SlowHooks : Hooks {
    int before(const Operation&) override {
      inside = true;
      sleep_ns(20'000'000);  // wait: the hooks are removed meanwhile
      inside = false;
      return 0;
    }
    std::atomic<bool> inside = false;
  };
  const TemporaryDirectory directory;
  std::atomic<bool> done = false;
  SlowHooks hooks;
  install_hooks(&hooks);
  std::thread caller([&] {
    while (!done) EXPECT_FALSE(File::open(directory / "is not there", Open::read));
  });
  EXPECT_TRUE(test_support::eventually("the hooks are asked", [&] { return hooks.inside.load(); }));
  install_hooks(nullptr);
  EXPECT_FALSE(hooks.inside);
  done = true;
  caller.join();
}

TEST(Hooks, PreventTheCallsTheyRefuse) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  const File file = File::open(path, Open::create_new).value();
  CallRecorder recorder;
  recorder.refuse = EROFS;
  {
    const InstalledHooks installed(recorder);
    EXPECT_EQ(file.write(0, base::as_bytes("x")).error().code, PERDURE_PERMISSION);
    EXPECT_EQ(remove_file(path).error().code, PERDURE_PERMISSION);
    EXPECT_EQ(File::open(path + "2", Open::create).error().code, PERDURE_PERMISSION);
  }
  EXPECT_THAT(recorder.results, testing::Each(HasSubstr(std::to_string(EROFS))));
  EXPECT_EQ(file.size().value(), 0U);
  EXPECT_TRUE(exists(path).value());
  EXPECT_FALSE(exists(path + "2").value());
}

TEST(Hooks, FailuresOfAWriteNameThePathAndTheOffset) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  FaultRules faults(parse_fault_rules("pwrite::ENOSPC").value());
  const InstalledHooks installed(faults);
  const auto failed = file.write(4096, base::as_bytes("x"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_NO_SPACE);
  EXPECT_TRUE(failed.error().retryable);
  EXPECT_THAT(failed.error().text(), HasSubstr(file.path() + ": pwrite at offset 4096: No space left"));
}

TEST(Hooks, EveryCallOfAFileThatFailsIsReportedWithCallAndPath) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  ASSERT_TRUE(file.write(0, base::as_bytes("content")));
  std::array<std::byte, 4> room{};
  const auto drop = [](const auto& result) {
    return result ? base::Status{} : base::Status{base::fail(result.error())};
  };
  const std::pair<const char*, std::function<base::Status()>> expectations[] = {
      {"open", [&] { return drop(File::open(directory / "a", Open::read)); }},
      {"fstat", [&] { return drop(File::open(directory / "a", Open::read)); }},
      {"fstat", [&] { return drop(file.size()); }},
      {"pread", [&] { return file.read(0, room); }},
      {"pread", [&] { return drop(file.read_some(0, room)); }},
      {"pwrite", [&] { return file.write(0, room); }},
      {"ftruncate", [&] { return file.truncate(1); }},
      {"fallocate", [&] { return file.preallocate(10); }},
      {"reserve", [&] { return file.reserve(0, 10); }},
      {"punch", [&] { return file.punch(0, 1); }},
      {"fsync", [&] { return file.sync(); }},
      {"fdatasync", [&] { return file.sync_data(); }},
      {"flock", [&] { return file.try_lock(); }},
      {"statfs", [&] { return drop(space(directory / "a")); }},
  };
  for (const auto& [call, action] : expectations) {
    FaultRules faults(parse_fault_rules(std::string(call) + "::EIO").value());
    const InstalledHooks installed(faults);
    const base::Status failed = action();
    ASSERT_FALSE(failed) << call;
    EXPECT_EQ(failed.error().code, PERDURE_IO) << call;
    EXPECT_EQ(failed.error().object, directory / "a") << call;
    EXPECT_THAT(failed.error().cause, HasSubstr(call));
  }
}

TEST(Hooks, InterruptedCallsAreRepeated) {
  const TemporaryDirectory directory;
  FaultRules faults(parse_fault_rules("*::EINTR:1:3").value());
  const InstalledHooks installed(faults);
  EXPECT_TRUE(File::open(directory / "a", Open::create_new));
}

}  // namespace
}  // namespace perdure::os
