#include "process/program_start.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "process/facilities.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProgramStarts, BecomeTheProgramOnlyWhenTheyAreToldTo) {
  test_support::TemporaryDirectory here;
  auto start = ProgramStart::begin({"sh", "-c", "echo > '" + (here / "ran") + "'; exit 5"});
  ASSERT_TRUE(start) << start.error().text();
  EXPECT_FALSE(std::filesystem::exists(here / "ran"));
  ASSERT_TRUE(start->go());
  int status = 0;
  const pid_t process = start->take();
  EXPECT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_TRUE(std::filesystem::exists(here / "ran"));
}

TEST(ProgramStarts, ThatAreGivenUpRanNothing) {
  test_support::TemporaryDirectory here;
  pid_t process = 0;
  {
    const auto start = ProgramStart::begin({"touch", here / "ran"});
    ASSERT_TRUE(start);
    process = start->process();
  }
  EXPECT_EQ(::waitpid(process, nullptr, 0), -1) << "it has ended, and was waited for";
  EXPECT_FALSE(std::filesystem::exists(here / "ran"));
}

TEST(ProgramStarts, OfWhatCannotBeRunSaySo) {
  test_support::TemporaryDirectory here;
  auto start = ProgramStart::begin({here / "nothing"});
  ASSERT_TRUE(start);
  const auto ran = start->go();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, PERDURE_NOT_FOUND);
}

TEST(ProgramStarts, NameInheritedFilesThatStandInTheWay) {
  const int tcp = ::socket(AF_INET, SOCK_STREAM, 0), closed = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(std::min(tcp, closed), 0);
  const auto start = ProgramStart::begin({"true"});
  ASSERT_TRUE(start);
  const auto found = start->obstacles_of_its_files();
  ASSERT_TRUE(found) << found.error().text();
  std::vector<std::string> droppable;
  for (const auto& one : *found) droppable.push_back(one.drop);
  EXPECT_THAT(droppable, testing::Contains("fd:" + std::to_string(tcp)));
  EXPECT_THAT(droppable, testing::Not(testing::Contains("fd:" + std::to_string(closed))));
  ::close(tcp);
  ::close(closed);
}

TEST(ObstaclesOfAProgram, AreSeenByItsFile) {
  EXPECT_THAT(*obstacles_of_program("sh"), IsEmpty());
  EXPECT_EQ(obstacles_of_program("no-such-program").error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(obstacles_of_program("/etc/passwd").error().code, PERDURE_NOT_FOUND) << "it may not be run";
  test_support::TemporaryDirectory here;
  std::ofstream(here / "old", std::ios::binary) << std::string("\177ELF\1\1\1", 7) << std::string(100, '\0');
  ::chmod((here / "old").c_str(), 0700);
  const auto old = obstacles_of_program(here / "old");
  ASSERT_TRUE(old && old->size() == 1);
  EXPECT_THAT(old->front().what, HasSubstr("32 bits"));
}

TEST(Facilities, ThatTheTestsBesideThisOneUseAreHere) {
  const auto errors = try_facilities();
  for (const Facility one : {Facility::trace_child, Facility::read_memory, Facility::write_memory,
                             Facility::rseq_configuration, Facility::compare_files, Facility::duplicate_files})
    EXPECT_EQ(errors[static_cast<std::size_t>(one)], 0) << static_cast<int>(one);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child of theirs is left";
}

}  // namespace
}  // namespace perdure::process
