// Kills an export or an import with -9 at every named point. Checks the files that are there, and the result of the
// next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/crash_point.hpp"
#include "os/fault_rules.hpp"
#include "portable/heat_testing.hpp"
#include "portable/import_version.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::portable {
namespace {

namespace fs = std::filesystem;
using os::CrashPoint;
using test_support::TemporaryDirectory;

/// Collects all points with this beginning that tools pass, and others.
std::vector<CrashPoint> points_of(std::string_view beginning, std::vector<CrashPoint> points = {}) {
  for (std::size_t i = 0; i < os::kToolCrashPoints.size(); ++i)
    if (os::kToolCrashPoints[i].name.starts_with(beginning))
      points.push_back(static_cast<CrashPoint>(os::kCrashPoints.size() + i));
  return points;
}

/// Tells whether it died at the point, at the `hit`-th time; otherwise it ended its work.
template <class Work>
bool dies(CrashPoint point, int hit, const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    os::arm_crash_point(point, hit);
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0) << status;
  return WIFSIGNALED(status);
}

class KilledExport : public ::testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  void SetUp() override {
    if (!replaces()) return;
    ASSERT_TRUE(old_.export_to(path_, false));
    before_ = snapshot(path_);
    before_described_ = snapshot(xdmf_);
  }
  bool hdf5() const { return std::get<0>(GetParam()) == std::string(".h5"); }
  bool replaces() const { return std::get<1>(GetParam()); }
  bool passes(CrashPoint point) const {
    if (point == CrashPoint::export_described) return hdf5();
    return point != CrashPoint::export_replaced;
  }
  bool published(CrashPoint point) const { return point == CrashPoint::export_after_rename; }

  /// Compares with the bytes of an undisturbed export; an HDF5 file has times in it, and is read.
  bool is_whole_new_one() {
    if (!hdf5()) return snapshot(path_) == expected_;
    reader::WrittenStore store;
    const auto imported = import_hdf5(path_, store.store(), "back", 1, [](std::uint64_t) {});
    if (!imported) return false;
    auto is = new_.open(), read = store.open("back").value();
    expect_same(is, read, 0);
    return true;
  }
  void expect_whole_or_as_before(CrashPoint point, int hit) {
    SCOPED_TRACE(std::string(os::crash_point_name(point)) + ":" + std::to_string(hit));
    if (published(point)) {
      EXPECT_TRUE(is_whole_new_one());
      EXPECT_FALSE(fs::exists(xdmf_)) << "it describes a file that is gone, or nobody synced it";
    } else {
      EXPECT_EQ(snapshot(path_), before_);
      const auto described = snapshot(xdmf_);
      const bool gone = point == CrashPoint::export_before_rename;
      EXPECT_TRUE(described == before_described_ || (gone && described.empty()));
    }
    for (const std::string& name : names_in(directory_.path()))
      EXPECT_TRUE(name == fs::path(path_).filename() || name == fs::path(xdmf_).filename() ||
                  name.starts_with("." + std::string(fs::path(path_).filename()) + ".tmp-") ||
                  name.starts_with("." + std::string(fs::path(xdmf_).filename()) + ".tmp-"))
          << name;
  }
  void expect_repeated(CrashPoint point) {
    SCOPED_TRACE(os::crash_point_name(point));
    auto again = new_.export_to(path_, replaces());
    if (published(point) && !replaces()) {
      ASSERT_FALSE(again) << "it is there, and whole";
      EXPECT_EQ(again.error().code, PERDURE_EXISTS);
      again = new_.export_to(path_, true);
    }
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(is_whole_new_one());
    EXPECT_EQ(fs::exists(xdmf_), hdf5());
    EXPECT_EQ(names_in(directory_.path()).size(), hdf5() ? 2U : 1U) << "what the killed one left is not removed";
  }
  void start_anew() {
    fs::remove_all(path_);
    fs::remove(xdmf_);
    SetUp();
  }

  TemporaryDirectory directory_{TemporaryDirectory::Place::memory}, elsewhere_{TemporaryDirectory::Place::memory};
  const std::string path_ = directory_ / ("heat" + std::string(std::get<0>(GetParam())));
  const std::string xdmf_ = directory_ / "heat.xdmf";
  Heat old_{6}, new_{14};
  std::map<std::string, std::string> before_, before_described_;
  std::map<std::string, std::string> expected_ = [this] {
    const std::string path = elsewhere_ / fs::path(path_).filename();
    EXPECT_TRUE(new_.export_to(path, false));
    return snapshot(path);
  }();
};
INSTANTIATE_TEST_SUITE_P(Formats, KilledExport,
                         ::testing::Combine(::testing::Values(".h5", ".zarr"), ::testing::Bool()),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param) + 1) +
                                  (std::get<1>(tested.param) ? "_replaces" : "");
                         });

TEST_P(KilledExport, LeavesWhatWasThereOrAllOfTheNewOneAndTheNextOneCleans) {
  for (const CrashPoint point : points_of("export_"))
    for (const int hit : {1, 3}) {
      if (hit == 3 && point != CrashPoint::export_chunk) continue;
      const bool died = dies(point, hit, [&] { (void)new_.export_to(path_, replaces()); });
      ASSERT_EQ(died, passes(point)) << os::crash_point_name(point);
      if (died) expect_whole_or_as_before(point, hit);
      if (died) expect_repeated(point);
      start_anew();
    }
}

/// A file system that cannot exchange two names.
class NoExchange : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    return std::string_view(operation.call) == "rename" && operation.flags == RENAME_EXCHANGE ? EINVAL : 0;
  }
};

TEST(KilledExports, OfADirectoryThatGaveWayGetItsNameBackWhereNamesCannotBeExchanged) {
  TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  const std::string path = directory / "heat.zarr";
  Heat old(6), fresh(14);
  ASSERT_TRUE(old.export_to(path, false));
  const auto before = snapshot(path);
  ASSERT_TRUE(dies(CrashPoint::export_replaced, 1, [&] {
    NoExchange hooks;
    os::install_hooks(&hooks);
    (void)fresh.export_to(path, true);
  }));
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(names_in(directory.path()).size(), 2U);
  EXPECT_EQ(fresh.export_to(path, false).error().code, PERDURE_EXISTS);
  EXPECT_EQ(snapshot(path), before);
  EXPECT_EQ(names_in(directory.path()).size(), 1U);
  NoExchange hooks;
  os::install_hooks(&hooks);
  const auto replaced = fresh.export_to(path, true);
  os::install_hooks(nullptr);
  EXPECT_TRUE(replaced) << replaced.error().text();
  EXPECT_NE(snapshot(path), before);
  EXPECT_EQ(names_in(directory.path()).size(), 1U);
}

// It belongs to another user, in a directory that many share.
TEST(KilledExports, ThatLeaveWhatCannotBeRemovedAreInNobodysWay) {
  for (const char* name : {"heat.h5", "heat.zarr"}) {
    TemporaryDirectory directory{TemporaryDirectory::Place::memory};
    const std::string path = directory / name;
    Heat heat(6);
    ASSERT_TRUE(dies(CrashPoint::export_chunk, 1, [&] { (void)heat.export_to(path, false); }));
    ASSERT_EQ(names_in(directory.path()).size(), 1U);
    os::FaultRules faults({{"unlink", ".tmp-", EACCES}, {"rmdir", ".tmp-", EACCES}});
    const test_support::InstalledHooks installed(faults);
    const auto exported = heat.export_to(path, false);
    EXPECT_TRUE(exported) << exported.error().text();
    EXPECT_FALSE(snapshot(path).empty());
  }
}

TEST(KilledExports, AreNotTakenForDeadWhileTheyLive) {
  TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  const std::string path = directory / "heat.h5";
  const std::string mine = temporary_beside(path), other = directory / ".heat.h5.tmp-00000000-1-1-000000";
  const std::string strange = directory / ".heat.h5.tmp-", another = directory / ".heat.h50.tmp-1";
  for (const std::string& name : {mine, other, strange, another}) std::ofstream(name) << "x";
  ASSERT_TRUE(Heat(6).export_to(path, false));
  for (const std::string& name : {mine, other, strange, another}) EXPECT_TRUE(fs::exists(name)) << name;
}

class KilledImport : public ::testing::TestWithParam<CrashPoint> {};
INSTANTIATE_TEST_SUITE_P(
    Points, KilledImport,
    ::testing::ValuesIn(points_of("import_", {CrashPoint::flush_created, CrashPoint::flush_before_sync,
                                              CrashPoint::flush_before_rename, CrashPoint::flush_after_rename})),
    [](const auto& tested) { return std::string(os::crash_point_name(tested.param)); });

TEST_P(KilledImport, LeavesAllOfTheVersionOrNoneAndTheNextOneSucceeds) {
  const TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  Heat heat(14);
  ASSERT_TRUE(heat.export_to(directory / "heat.h5", false));
  reader::WrittenStore into;
  const auto import = [&] { return import_hdf5(directory / "heat.h5", into.store(), "back", 7, [](std::uint64_t) {}); };
  ASSERT_TRUE(dies(GetParam(), 1, [&] { (void)import(); }));
  const bool published = GetParam() == CrashPoint::flush_after_rename || GetParam() == CrashPoint::import_committed;
  const auto expect_whole = [&] {
    auto before = heat.open();
    auto after = into.open("back", 7);
    ASSERT_TRUE(after) << after.error().text();
    expect_same(before, *after, 0);
  };
  if (published) {
    expect_whole();
  } else {
    EXPECT_FALSE(into.open("back", 7));
  }
  const auto again = import();
  ASSERT_EQ(again.has_value(), !published) << (again ? "" : again.error().text());
  EXPECT_EQ(again ? PERDURE_OK : again.error().code, published ? PERDURE_EXISTS : PERDURE_OK);
  expect_whole();
  ASSERT_TRUE(into.store().clean([](const segment::VersionId&, std::uint32_t) { return true; }));
  EXPECT_EQ(names_in(into.path() + "/back/7").size(), 1U);
  EXPECT_TRUE(into.store().residue().value().empty());
}

}  // namespace
}  // namespace perdure::portable
