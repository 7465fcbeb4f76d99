// Tests damaged records of images, as an attacker might make them: decoding must refuse them with a reason.
#include <gmock/gmock.h>

#include <functional>

#include "support/sample_image.hpp"

namespace perdure::process {
namespace {

using test_support::sample_bytes;
using test_support::sample_image;
using testing::HasSubstr;

TEST(ImageRecords, AreTheSameWhenTheyAreReadAndWrittenAgain) {
  const auto bytes = encode_image(sample_image());
  const auto image = decode_image(bytes, "image");
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_EQ(encode_image(*image), bytes);
  EXPECT_EQ(image->open_files.files.size(), sample_image().open_files.files.size());
  EXPECT_EQ(image->page_bytes(), 10 * kPageBytes);
}

TEST(ImageRecords, CutOffAtAnyByteAreRefused) {
  const auto bytes = encode_image(sample_image());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto cut = decode_image(base::ConstByteSpan(bytes).first(length), "image");
    ASSERT_FALSE(cut) << length;
    ASSERT_EQ(cut.error().code, PERDURE_CORRUPT) << length;
  }
  auto longer = bytes;
  longer.push_back({});
  EXPECT_EQ(decode_image(longer, "image").error().code, PERDURE_CORRUPT);
}

/// Replaces numbers by huge ones, as counts beyond the data, or lengths that would take all memory.
TEST(ImageRecords, WithNumbersThatPromiseTooMuchAreRefusedOrMeanSomethingElse) {
  const auto bytes = encode_image(sample_image());
  std::size_t refused = 0;
  for (std::size_t at = 4; at + 4 <= bytes.size(); at += 3)
    for (const std::byte with : {std::byte{0xff}, std::byte{0x7f}}) {
      auto damaged = bytes;
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), 4, with);
      const auto image = decode_image(damaged, "image");
      if (image) {
        ASSERT_EQ(image->wrong(), "");
        ASSERT_EQ(encode_image(*image), damaged);
      } else {
        ++refused;
      }
    }
  EXPECT_GT(refused, bytes.size() / 6);
}

struct Hostile {
  const char* what;
  std::function<void(ProcessImage&)> damage;
  const char* said;
};

class HostileRecords : public testing::TestWithParam<Hostile> {};

TEST_P(HostileRecords, AreRefused) {
  auto image = sample_image();
  GetParam().damage(image);
  const auto decoded = decode_image(encode_image(image), "image");
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(decoded.error().text(), HasSubstr(GetParam().said));
}

constexpr const char *kNoMap = "is none of a mapping", *kNoPages = "has pages that are none",
                     *kOutside = "has pages outside of all mappings";

INSTANTIATE_TEST_SUITE_P(
    All, HostileRecords,
    testing::Values(
        Hostile{"AMapWithoutAPage", [](auto& image) { image.maps[0].end = image.maps[0].begin; }, kNoMap},
        Hostile{"AMapThatEndsBeforeItBegins", [](auto& image) { image.maps[0].end = 0x1000; }, kNoMap},
        Hostile{"AMapOfHalfAPage", [](auto& image) { image.maps[0].begin += 8; }, kNoMap},
        Hostile{"AMapOfTheKernel", [](auto& image) { image.maps[2].end = 0xffff'8000'0000'0000; }, kNoMap},
        Hostile{"AMapBehindTheLastPage", [](auto& image) { image.maps[2].end = kAddressEnd + kPageBytes; }, kNoMap},
        Hostile{"OverlappingMaps", [](auto& image) { image.maps[1].begin -= kPageBytes; }, "'maps' does not ascend"},
        Hostile{"TheSameMapTwice", [](auto& image) { image.maps.push_back(image.maps.back()); },
                "'maps' does not ascend"},
        Hostile{"AMapOverTheVdso",
                [](auto& image) {
                  image.maps[2].begin = image.system.vdso_begin + kPageBytes;
                  image.maps[2].end = image.system.vdso_end;
                  image.pages[1].runs.pop_back();
                },
                "has the kernel's pages"},
        Hostile{"AMapOfAFileThatIsNone", [](auto& image) { image.maps[1].file = 2; }, "names a file that is none"},
        Hostile{"AMapOfMemoryThatIsNone", [](auto& image) { image.maps[2].object = 3; }, "names a file that is none"},
        Hostile{"AMapOfAFileAndOfMemory", [](auto& image) { image.maps[1].object = 1; }, "stands beside a file"},
        Hostile{"AMapOfOtherRights", [](auto& image) { image.maps[0].protection = 8; }, "has no such rights"},
        Hostile{"AnOffsetThatOverflows", [](auto& image) { image.maps[1].offset = ~std::uint64_t{0xfff}; },
                "'offset' is none"},
        Hostile{"PagesBeforeTheirMap", [](auto& image) { image.pages[0].runs[0].begin = 0xf000; }, kOutside},
        Hostile{"PagesBehindTheirMap", [](auto& image) { image.pages[1].runs[1].pages = 5; }, kOutside},
        Hostile{"PagesOfTwoMaps",
                [](auto& image) {
                  image.pages[0].runs = {{0x1f000, 2}};
                },
                kOutside},
        Hostile{"PagesThatOverlapThoseOfAnotherNode", [](auto& image) { image.pages[0].runs[0].pages = 3; }, kNoPages},
        Hostile{"PagesThatAreNone", [](auto& image) { image.pages[0].runs[0].pages = 0; }, kNoPages},
        Hostile{"MorePagesThanThereAre", [](auto& image) { image.pages[0].runs[1].pages = ~std::uint64_t{0}; },
                kNoPages},
        Hostile{"SoManyPagesThatTheirEndOverflows",
                [](auto& image) { image.pages[0].runs[1].pages = std::uint64_t{1} << 52; }, kNoPages},
        Hostile{"ANodeTwice", [](auto& image) { image.pages[1].node = 0; }, "has a node twice"},
        Hostile{"NoThread", [](auto& image) { image.threads.clear(); }, "does not begin with the process's own"},
        Hostile{"AThreadOfAnotherProcess", [](auto& image) { image.number = 51; },
                "does not begin with the process's own"},
        Hostile{"AThreadWithoutANumber", [](auto& image) { image.threads[1].number = 0; }, "is none of a thread"},
        Hostile{"HalfOfTheRegisters", [](auto& image) { image.threads[1].registers.resize(8); },
                "'registers' has a wrong length"},
        Hostile{"ASignalOfAnotherLength", [](auto& image) { image.threads[0].pending_signals[0].pop_back(); },
                "'pending_signals' has a wrong length"},
        Hostile{"ProcessorsThatDoNotAscend",
                [](auto& image) {
                  image.threads[0].cpus = {3, 3};
                },
                "does not ascend"},
        Hostile{"NoProcessor", [](auto& image) { image.threads[0].cpus.clear(); }, "does not ascend"},
        Hostile{"ActionsForSignal65", [](auto& image) { image.actions[0].signal = 65; }, "no such signal"},
        Hostile{"ADirectoryThatIsRelative", [](auto& image) { image.directory = "tmp"; }, "'directory' is none"},
        Hostile{"AFileWithAZeroInItsName", [](auto& image) { image.files[0].path.push_back('\0'); }, "'path' is none"},
        Hostile{"AVectorThatIsTooLong", [](auto& image) { image.layout.auxiliary = sample_bytes(1040); },
                "'auxiliary' has a wrong length"},
        Hostile{"ADescriptorOfNoFile", [](auto& image) { image.open_files.descriptors[0].file = 99; }, "does not have"},
        Hostile{"ADescriptorTwice", [](auto& image) { image.open_files.descriptors[1].number = 0; }, "do not ascend"},
        Hostile{"AFileThatIsCut", [](auto& image) { image.open_files.files[0].flags |= O_TRUNC; }, "make or cut files"},
        Hostile{"AFileThatIsMade", [](auto& image) { image.open_files.files[0].flags |= O_CREAT; },
                "make or cut files"},
        Hostile{"ADeviceThatIsADisk",
                [](auto& image) { std::get<NamedFile>(image.open_files.files[0].what).mode = S_IFBLK | 0600; },
                "neither a regular file"},
        Hostile{"ADeviceThatIsMemory",
                [](auto& image) {
                  auto& file = std::get<NamedFile>(image.open_files.files[0].what);
                  file.mode = S_IFCHR | 0600;
                  file.special_device = 1 << 8 | 1;
                },
                "none of those that are captured"},
        Hostile{"ContentThatDoesNotAscend", [](auto& image) { image.open_files.contents[0].runs[1].offset = 0; },
                "do not ascend"},
        Hostile{"ContentBehindItsEnd", [](auto& image) { image.open_files.contents[0].size = 11; },
                "has more than its size"},
        Hostile{"AListenerOfWhatIsNone",
                [](auto& image) {
                  for (auto& file : image.open_files.files)
                    if (auto* socket = std::get_if<ListeningSocket>(&file.what)) socket->type = SOCK_DGRAM;
                },
                "listens to what is none"},
        Hostile{"AListenerOfAnAddressOfAnotherKind",
                [](auto& image) {
                  for (auto& file : image.open_files.files)
                    if (auto* socket = std::get_if<ListeningSocket>(&file.what)) socket->address[0] = std::byte{1};
                },
                "its address is of another kind"},
        Hostile{"SecurebitsThatAreNone", [](auto& image) { image.threads[1].state.secure_bits = 256; },
                "'secure_bits' has bits"},
        Hostile{"AccessToACounterThatIsNone", [](auto& image) { image.threads[0].state.counter_access = 3; },
                "'counter_access' is none"},
        Hostile{"AnIoPriorityThatIsNone", [](auto& image) { image.threads[0].state.io_priority = -1; },
                "'io_priority' is none"},
        Hostile{"MoreThanAProcessor", [](auto& image) { image.threads[0].state.most_use = 1025; },
                "'most_use' is more than a processor"},
        Hostile{"SpeculationThatIsNone", [](auto& image) { image.threads[0].state.speculation[2] = 32; },
                "'speculation' has bits"},
        Hostile{"AChoiceOfFailuresThatIsNone", [](auto& image) { image.threads[0].state.memory_failures = 3; },
                "'memory_failures' is none"},
        Hostile{"ABarrierThatIsNoRegistration", [](auto& image) { image.state.membarriers = 2; },
                "'membarriers' has what is no registration"},
        Hostile{"RightsOfMemoryThatAreNone", [](auto& image) { image.state.write_execute = 4; },
                "'write_execute' has bits"},
        Hostile{"HugePagesThatAreNone", [](auto& image) { image.state.huge_pages = 4; }, "'huge_pages' has bits"},
        Hostile{"AScoreThatIsNone", [](auto& image) { image.state.oom_score = 1001; }, "'oom_score' is none"},
        Hostile{"ATimerOfManyIds", [](auto& image) { image.posix_timers[0].id = 1 << 20; }, "none of a timer"}),
    [](const auto& one) { return std::string(one.param.what); });

}  // namespace
}  // namespace perdure::process
