#include "process/machine_facts.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ProcessImage captured_there() {
  ProcessImage image;
  image.number = 4711;
  image.user = 1000;
  image.system = {"x86_64", "6.1.0", {"avx", "avx2"}, 0xE7, {1, 2}, 0x7000, 0xB000, {}};
  return image;
}

MachineFacts like_there() {
  MachineFacts facts;
  facts.architecture = "x86_64";
  facts.instructions = {"avx", "avx2", "fma"};
  facts.processor_state = 0xE7;
  facts.vdso = {1, 2};
  facts.vdso_bytes = 0x4000;
  facts.user = 1000;
  facts.chooses_numbers = true;
  return facts;
}

TEST(ObstaclesOfAResume, OnAMachineLikeTheOneItWasCapturedOnAreNone) {
  EXPECT_THAT(obstacles_of_resume(captured_there(), like_there()), IsEmpty());
  EXPECT_TRUE(may_resume(captured_there(), like_there()));
  MachineFacts more = like_there();
  more.processor_state |= 3 << 17;
  EXPECT_THAT(obstacles_of_resume(captured_there(), more), IsEmpty()) << "a processor that has more";
}

TEST(ObstaclesOfAResume, OnAnotherMachineNameWhatItLacks) {
  MachineFacts facts = like_there();
  facts.processor_state = 0x7;
  facts.vdso = {1, 3};
  const auto refused = may_resume(captured_there(), facts);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("it cannot be resumed here"), HasSubstr("lacks AVX-512"), HasSubstr("kernel 6.1.0")));
  facts = like_there();
  facts.instructions = {"avx"};
  EXPECT_THAT(may_resume(captured_there(), facts).error().text(), HasSubstr("lacks instructions: avx2 ("));
  facts = like_there();
  facts.changed_files = {"/bin/x"};
  EXPECT_THAT(may_resume(captured_there(), facts).error().text(), HasSubstr("'/bin/x' has changed since"));
  facts = like_there();
  facts.vdso_bytes = 0x5000;
  EXPECT_FALSE(may_resume(captured_there(), facts));
  facts.architecture = "aarch64";
  ASSERT_THAT(obstacles_of_machine(captured_there(), facts), SizeIs(1)) << "nothing else means anything there";
  EXPECT_THAT(obstacles_of_machine(captured_there(), facts)[0].what, HasSubstr("x86_64"));
}

TEST(ObstaclesOfAResume, ByAnotherUserComeFirst) {
  MachineFacts facts = like_there();
  facts.user = 0;
  facts.processor_state = 0;
  const auto refused = may_resume(captured_there(), facts);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_PERMISSION);
  EXPECT_THAT(obstacles_of_resume(captured_there(), facts), SizeIs(2));
}

TEST(ObstaclesOfAResume, ThatPassAreToldAndRefuseNothingBeforehand) {
  MachineFacts facts = like_there();
  facts.number_taken_by = "sleep";
  facts.chooses_numbers = false;
  facts.missing_files = {"/data/input"};
  EXPECT_TRUE(may_resume(captured_there(), facts));
  const auto all = obstacles_of_resume(captured_there(), facts);
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_THAT(all[0].what, AllOf(HasSubstr("4711"), HasSubstr("sleep")));
  EXPECT_THAT(all[1].remedy, HasSubstr("CAP_CHECKPOINT_RESTORE"));
  EXPECT_THAT(all[2].what, HasSubstr("/data/input"));
}

TEST(ObstaclesOfAResume, AreFilesThatHaveChangedSince) {
  test_support::TemporaryDirectory here;
  const std::string library = here / "library", data = here / "data";
  for (const auto& path : {library, data}) std::ofstream(path) << "as it was";
  struct stat status {};
  ASSERT_EQ(::stat(library.c_str(), &status), 0);
  const std::int64_t modified = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  ProcessImage image = captured_there();
  image.program = {library, 0, 0, 9, modified};
  image.files = {{library, 0, 0, 9, modified}, {data, 0, 0, 4, 1}};
  image.maps.resize(2);
  image.maps[0].file = 1;
  image.maps[1].file = 2;
  image.maps[1].shared = true;
  EXPECT_THAT(facts_for(image)->changed_files, IsEmpty()) << "what is shared is the file's";
  image.maps[1].shared = false;
  EXPECT_THAT(facts_for(image)->changed_files, testing::ElementsAre(data));
  std::ofstream(library) << "another!!";
  timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, library.c_str(), times, 0), 0);
  EXPECT_THAT(facts_for(image)->changed_files, testing::ElementsAre(data, library)) << "as long as it was";
}

TEST(ObstaclesOfAResume, AreJudgedByWhatIsHere) {
  ProcessImage image = captured_there();
  image.number = ::getpid();
  image.user = ::geteuid();
  image.directory = "/";
  image.program.path = "/nowhere/program";
  const auto facts = facts_for(image);
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_THAT(facts->missing_files, testing::ElementsAre("/nowhere/program"));
  EXPECT_THAT(facts->changed_files, IsEmpty());
  EXPECT_NE(facts->number_taken_by, "");
  EXPECT_NE(facts->processor_state & 3, 0U);
  EXPECT_NE(facts->vdso_bytes, 0U);
  image.system = {facts->architecture, "6.1.0", facts->instructions,         facts->processor_state,
                  facts->vdso,         0x10000, 0x10000 + facts->vdso_bytes, facts->vdso_code};
  EXPECT_THAT(obstacles_of_machine(image, *facts), IsEmpty());
  image.system.vdso = {1, 2};
  EXPECT_THAT(obstacles_of_machine(image, *facts), IsEmpty()) << "another kernel's functions lead to ours";
  Registers registers{};
  registers.rip = image.system.vdso_end - 8;
  image.threads.resize(1);
  image.threads.front().registers.resize(sizeof registers);
  std::memcpy(image.threads.front().registers.data(), &registers, sizeof registers);
  ASSERT_THAT(obstacles_of_machine(image, *facts), SizeIs(1));
  EXPECT_THAT(obstacles_of_machine(image, *facts)[0].why, HasSubstr("was amid a function of those of kernel 6.1.0"));
}

}  // namespace
}  // namespace perdure::process
