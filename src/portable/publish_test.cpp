// Some files must be on the device, and others must be gone, before a file gets its name.
#include <gtest/gtest.h>

#include "os/hooks.hpp"
#include "portable/heat_testing.hpp"
#include "portable/import_version.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::portable {
namespace {

using test_support::TemporaryDirectory;

class PublishedFiles : public ::testing::TestWithParam<const char*> {
 protected:
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  const std::string path_ = directory_ / ("heat" + std::string(GetParam()));
  Heat heat_{14};
};
INSTANTIATE_TEST_SUITE_P(Formats, PublishedFiles, ::testing::Values(".h5", ".zarr"),
                         [](const auto& tested) { return std::string(tested.param + 1); });

/// Notes syncs and renames, in their order.
class Noted : public os::Hooks {
 public:
  void after(const os::Operation& operation, int error_number) override {
    const std::string_view call = operation.call;
    if (error_number == 0 && (call.starts_with("fsync") || call == "fdatasync" || call == "rename"))
      calls.push_back({std::string(call), operation.path, operation.new_path});
  }
  struct Call {
    std::string call, path, new_path;
  };
  std::vector<Call> calls;
};

TEST_P(PublishedFiles, AreOnTheDeviceBeforeTheyHaveTheirNameAndTheNameIsAfterwards) {
  Noted noted;
  {
    const test_support::InstalledHooks installed(noted);
    ASSERT_TRUE(heat_.export_to(path_, false));
  }
  std::vector<std::string> synced;
  std::string was;
  bool name_synced = false;
  for (const auto& [call, path, new_path] : noted.calls) {
    if (call == "rename" && new_path == path_) was = path;
    if (call != "rename" && was.empty()) synced.push_back(path);
    if (call == "fsync_dir" && !was.empty()) name_synced = name_synced || path == directory_.path();
  }
  ASSERT_FALSE(was.empty());
  EXPECT_TRUE(name_synced);
  for (const auto& [file, content] : snapshot(path_)) {
    const std::string path = file == "." ? was : was + "/" + file;
    EXPECT_NE(std::find(synced.begin(), synced.end(), path), synced.end()) << path;
  }
}

TEST_P(PublishedFiles, NeverTakeTheNameOfWhatCameMeanwhile) {
  const Facts about{"heat", 3, kExported.attempt.hex(), 2, "perdure test"};
  const auto target = (std::string(GetParam()) == ".h5" ? make_hdf5(path_, about) : make_zarr(path_, about)).value();
  ASSERT_TRUE(target->finish());
  std::ofstream(path_) << "all of it";
  const auto published = target->publish(false);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, PERDURE_EXISTS);
  EXPECT_EQ(snapshot(path_).begin()->second, "all of it");
}

// An export with --force may take hours, and meanwhile another directory gets the name.
TEST(PublishedGroups, GiveBackANameThatAnotherDirectoryHasMeanwhile) {
  const TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  const std::string path = directory / "heat.zarr";
  {
    const auto target = make_zarr(path, {"heat", 3, kExported.attempt.hex(), 2, "perdure test"}).value();
    ASSERT_TRUE(target->finish());
    std::filesystem::create_directory(path);
    std::ofstream(path + "/mine") << "all of it";
    const auto published = target->publish(true);
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().code, PERDURE_EXISTS);
  }
  EXPECT_EQ(snapshot(path), (std::map<std::string, std::string>{{"mine", "all of it"}}));
  EXPECT_EQ(names_in(directory.path()), std::vector<std::string>{"heat.zarr"});
}

/// A device that turns one bit of each chunk that is read of a segment.
class Turned : public os::Hooks {
 public:
  void after(const os::Operation& operation, int /*error_number*/) override {
    if (std::string_view(operation.call) == "pread" && operation.path.ends_with(".pds") && operation.offset == 4096)
      operation.target[0] ^= std::byte{1};
  }
};

TEST(ImportedVersions, AreNotThereWhereWhatWasReadBackIsSomethingElse) {
  const TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  Heat heat(14);
  ASSERT_TRUE(heat.export_to(directory / "heat.h5", false));
  reader::WrittenStore into;
  const auto import = [&] { return import_hdf5(directory / "heat.h5", into.store(), "back", 7, [](std::uint64_t) {}); };
  {
    Turned turned;
    const test_support::InstalledHooks installed(turned);
    const auto imported = import();
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, PERDURE_CORRUPT);
  }
  EXPECT_FALSE(into.open("back", 7));
  EXPECT_TRUE(import());
}

}  // namespace
}  // namespace perdure::portable
