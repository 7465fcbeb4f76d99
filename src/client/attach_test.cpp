// A rank finds its engine even when files on disk mislead for a moment.
#include <gtest/gtest.h>

#include <filesystem>

#include "client/ranks_testing.hpp"
#include "client/session.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

class Attach : public testing::Test {
 protected:
  std::string options(const std::string& more) const {
    return "store.path=" + directory_ / "store" + ";node.path=" + directory_ / "node" +
           ";tier.file.path=" + directory_ / "file" +
           ";chunk_bytes=128KiB;tier.memory.max_bytes=16MiB;tier.file.max_bytes=16MiB;" + more;
  }
  config::Config configured(const std::string& more) const {
    config::Config config;
    EXPECT_TRUE(config.set_all(options(more), config::Origin::program));
    return config;
  }
  test_support::TemporaryDirectory directory_;
};

/// Puts the engine's own fingerprint there when a client that believed the old one has connected.
class OwnerGetsToIt : public os::Hooks {
 public:
  OwnerGetsToIt(std::string path, std::string fingerprint)
      : path_(std::move(path)), fingerprint_(std::move(fingerprint)) {}
  void after(const os::Operation& operation, int) override {
    if (operation.call != std::string("connect") || deceived_) return;
    deceived_ = true;
    ASSERT_TRUE(os::write_file_atomically(path_, base::as_bytes(fingerprint_)));
  }
  bool deceived() const { return deceived_; }

 private:
  std::string path_, fingerprint_;
  std::atomic<bool> deceived_ = false;
};

TEST_F(Attach, WhoBelievedTheFingerprintOfADeadOwnerLooksAgain) {
  const auto mine = configured("retention.keep_last=3"), others = configured("retention.keep_last=9");
  auto claimed = engine::claim(others, os::host_name());
  ASSERT_TRUE(claimed);
  const std::string fingerprint = std::get<engine::Claim>(*claimed).paths.node + "/fingerprint";
  auto other = engine::Engine::start(others, std::get<engine::Claim>(std::move(*claimed)), false);
  ASSERT_TRUE(other) << other.error().text();
  ASSERT_TRUE(os::write_file_atomically(fingerprint, base::as_bytes(mine.fingerprint())));
  OwnerGetsToIt hooks(fingerprint, others.fingerprint());
  test_support::InstalledHooks installed(hooks);
  auto session = Session::open(comm::make_solo(), options("retention.keep_last=3").c_str());
  EXPECT_TRUE(hooks.deceived());
  ASSERT_TRUE(session) << session.error().text();
  EXPECT_TRUE((*session)->close());
}

using AttachedJob = JobOfThreads;

// The next engine need not hold the versions that the store has: here it has nothing.
TEST_F(AttachedJob, KnowsWhatItsEnginesHoldWhole) {
  more_ = "tier.order=file";
  os::FaultRules full{*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC")};
  const test_support::InstalledHooks no_store{full};
  segment::VersionId written;
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    if (job.rank() == 0) written = id;
  });
  on_ranks([&](Job& job) { EXPECT_TRUE(job.known().was_whole_in_tiers(written)); });
}

// Open slots of an engine that died would hold its memory.
TEST_F(AttachedJob, LetsGoOfTheSlotsThatItHadOpen) {
  ranks_ = 1;
  more_ = "tier.order=file";
  const auto open_slots = [this] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string path = std::filesystem::read_symlink(entry.path(), gone);
      if (path.starts_with(directory_.path()) && path.find("/slot-") != std::string::npos) ++count;
    }
    return count;
  };
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    const std::size_t before = open_slots();
    ASSERT_TRUE(job.attach());
    EXPECT_LE(open_slots() + 4, before) << "one for each chunk";
  });
}

// A store that was removed and begun anew has lost the data that the engine brought there.
TEST_F(AttachedJob, TellsItsEngineOfEachIncarnationOfTheStore) {
  ranks_ = 1;
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    job.tell_incarnation("app", 7);
    wait_for_store(job, id);
    ASSERT_TRUE(os::remove_tree(directory_ / "store/app"));
    job.tell_incarnation("app", 8);
    wait_for_store(job, id);
    const auto listed = job.store().list("app");
    ASSERT_TRUE(listed) << listed.error().text();
    EXPECT_EQ(listed->size(), 1U);
  });
}

}  // namespace
}  // namespace perdure::client
