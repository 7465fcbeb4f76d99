// A capture of a program that could not be brought back is refused by name, and the program goes on.
#include "process/resume_proof.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <filesystem>

#include "process/alone_testing.hpp"
#include "process/guard.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

/// An image of a child that waits.
CapturedImage plain_image() {
  Alone child([](Seen& seen) {
    seen.works = 1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  auto captured = capture_to_memory(child.process());
  EXPECT_TRUE(captured) << captured.error().text();
  EXPECT_EQ(child.tell_end(), 7);
  return captured ? std::move(*captured) : CapturedImage();
}

base::Status proof_of(const ProcessImage& image) {
  PERDURE_TRY(const auto facts, facts_where_captured(image));
  return prove_resumable(image, facts);
}

TEST(ResumeProof, IsThereForAProgramAsItIs) {
  const auto captured = plain_image();
  const auto proved = proof_of(captured.image);
  EXPECT_TRUE(proved) << proved.error().text();
  const std::uint64_t record = captured.entries.front().bytes();
  EXPECT_TRUE(prove_record(base::ConstByteSpan(captured.bytes).first(record), captured.entries));
}

#if defined(__x86_64__)
TEST(ResumeProof, RefusesRegistersThatANewProcessCannotHave) {
  auto image = plain_image().image;
  constexpr std::size_t kPartsInUse = 512 + 2;                            // of the header behind the legacy part
  image.threads.front().extended_registers[kPartsInUse] |= std::byte{4};  // tiles of AMX
  const auto refused = proof_of(image);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(), HasSubstr("its extended registers cannot be set"));
}
#endif

TEST(ResumeProof, RefusesStateThatANewProcessCannotHave) {
  auto image = plain_image().image;
  image.threads.front().state.speculation = {0, 0, 1 | 1 << 2};  // of a kernel that lets each thread choose
  const auto refused = proof_of(image);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("set the speculation control"));
}

TEST(ResumeProof, RefusesAMachineThatIsAnotherAndFilesThatAreGone) {
  auto image = plain_image().image;
  image.system.architecture = "of the future";
  EXPECT_THAT(proof_of(image).error().text(), HasSubstr("of the future"));
  image = plain_image().image;
  image.files.push_back({"/nowhere/to/be/found", 1, 2, 3, 4});
  EXPECT_THAT(proof_of(image).error().text(), HasSubstr("'/nowhere/to/be/found' is not here"));
}

TEST(ResumeProof, RefusesRecordsThatWouldNotBeReadOrSayOtherPages) {
  const auto captured = plain_image();
  const auto record = base::ConstByteSpan(captured.bytes).first(captured.entries.front().bytes());
  EXPECT_FALSE(prove_record(record.first(record.size() - 1), captured.entries));
  auto others = captured.entries;
  others.pop_back();
  const auto refused = prove_record(record, others);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("something else than what is stored"));
}

TEST(ResumeProof, WantsRoomBesideAllMemory) {
  ProcessImage image;
  image.system.vdso_begin = 0x7fff'0000'0000;
  image.system.vdso_end = image.system.vdso_begin + 6 * kPageBytes;
  EXPECT_TRUE(leaves_room(image));
  MapImage all;
  all.begin = 0x10000;
  all.end = image.system.vdso_begin;
  image.maps = {all};
  EXPECT_TRUE(leaves_room(image));
  MapImage above;
  above.begin = image.system.vdso_end;
  above.end = kAddressEnd - 16 * kPageBytes;
  image.maps.push_back(above);
  EXPECT_FALSE(leaves_room(image)) << "for what makes it, and not for the kernel's pages beside it";
  image.maps.back().end -= 6 * kPageBytes;
  EXPECT_TRUE(leaves_room(image));
}

TEST(ResumeProof, RefusesACaptureByNameAndTheProgramGoesOn) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard) << guard.error().text();
  Alone child(takes_all_addresses);
  child.wait();
  Guard::Wanted wanted;
  wanted.process = child.process();
  const auto refused = guard->hold(wanted);
  if (refused) (void)guard->release();
  EXPECT_EQ(child.tell_end(), 7) << "it goes on";
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(), HasSubstr("could not be brought back: its addresses leave no gap of 64 KiB"));
}

// Whoever goes on may remove its files before it is proved that it can be brought back.
TEST(ResumeProof, IsOfTheMomentAtWhichItStoodStill) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard) << guard.error().text();
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "file";
  Alone child([&](Seen& seen) {
    seen.works = ::open(path.c_str(), O_CREAT | O_RDWR, 0600) >= 0;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  Guard::Wanted wanted;
  wanted.process = child.process();
  wanted.proof = Guard::Wanted::afterwards;
  ASSERT_TRUE(guard->hold(wanted));
  ASSERT_TRUE(guard->release());
  std::filesystem::remove(path);
  const auto proved = guard->prove();
  EXPECT_TRUE(proved) << proved.error().text();
  EXPECT_FALSE(guard->prove()) << "nothing is left";
  wanted.proof = Guard::Wanted::at_once;
  ASSERT_TRUE(guard->hold(wanted)) << "its file is unlinked now, and is in the image";
  ASSERT_TRUE(guard->release());
  EXPECT_FALSE(guard->prove()) << "it was proved before it was held";
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(ResumeProof, RefusesLaterByNameWhatCouldNotBeBroughtBack) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard) << guard.error().text();
  Alone child(takes_all_addresses);
  child.wait();
  Guard::Wanted wanted;
  wanted.process = child.process();
  wanted.proof = Guard::Wanted::afterwards;
  ASSERT_TRUE(guard->hold(wanted));
  ASSERT_TRUE(guard->release());
  EXPECT_EQ(child.tell_end(), 7) << "it went on before";
  const auto refused = guard->prove();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("could not be brought back: its addresses leave no gap of 64 KiB"));
}

}  // namespace
}  // namespace perdure::process
