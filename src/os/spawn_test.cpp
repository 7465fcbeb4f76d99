#include "os/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/file.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::TemporaryDirectory;

class SpawnDaemon : public testing::Test {
 protected:
  BackgroundProgram shell(const std::string& script) const {
    return {"/bin/sh", {"-c", script, "sh", directory_.path()}, {"WORD=told"}, directory_ / "errors", -1};
  }
  /// Waits until the file is there, and returns its content.
  std::string told(const std::string& name) const {
    std::string text = "nothing";
    EXPECT_TRUE(test_support::eventually("there is a file " + name, [&] {
      const auto bytes = read_file(directory_ / name, 4096);
      if (bytes) text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      return bytes.has_value();
    }));
    return text;
  }
  TemporaryDirectory directory_;
};

TEST_F(SpawnDaemon, StartsAProgramOfItsOwnSessionWithTheEnvironmentThatItIsGiven) {
  ASSERT_TRUE(spawn_daemon(shell("echo \"$WORD$HOME in $PWD\" > $1/t; echo oh >&2; mv $1/t $1/told")));
  EXPECT_EQ(told("told"), "told in /\n");
  EXPECT_EQ(told("errors"), "oh\n");
}

TEST_F(SpawnDaemon, HandsDownTheOneDescriptorThatItShallKeep) {
  File kept = File::open(directory_ / "kept", Open::create).value();
  const File other = File::open(directory_ / "other", Open::create).value();
  const std::string fds = std::to_string(kept.fd()) + " " + std::to_string(other.fd());
  BackgroundProgram program =
      shell("for fd in " + fds + "; do [ -e /proc/$$/fd/$fd ] && echo $fd; done > $1/t; mv $1/t $1/told");
  program.keep_fd = kept.fd();
  ASSERT_TRUE(spawn_daemon(program));
  EXPECT_EQ(told("told"), std::to_string(kept.fd()) + "\n");
}

TEST_F(SpawnDaemon, SaysWhyTheProgramCannotBeStarted) {
  BackgroundProgram program = shell("true");
  program.path = directory_ / "nothing";
  const auto missing = spawn_daemon(program);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(missing.error().object, program.path);
  ASSERT_TRUE(write_file_atomically(program.path, base::as_bytes("no program")));
  const auto refused = spawn_daemon(program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_PERMISSION);
}

}  // namespace
}  // namespace perdure::os
