// Tests operations on the ledger while other threads use it.
#include "engine/ledger/node_state_testing.hpp"
#include "os/hooks.hpp"

namespace perdure::engine {
namespace {

// Uses the ledger at each sync of a file, as a rank's request would. That hangs if the lock is held during the sync.
class UseWhileSyncing : public os::Hooks {
 public:
  explicit UseWhileSyncing(std::function<void()> use) : use_(std::move(use)) { os::install_hooks(this); }
  ~UseWhileSyncing() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override {
    const std::string_view call = operation.call;
    if (call != "fsync" && call != "fsync_dir") return 0;
    ++synced;
    use_();
    return 0;
  }
  int synced = 0;

 private:
  std::function<void()> use_;
};

TEST(CatalogCompaction, WritesAndSyncsWithoutTheLedgersLock) {
  test_support::TemporaryDirectory directory;
  Reports reports;
  Ledger ledger(catalog::Catalog::open(directory.path(), 4 * base::KiB).value(),
                std::vector<std::unique_ptr<tier::Tier>>(), reports);
  const auto log_bytes = [&] { return os::File::open(directory / "catalog", os::Open::read)->size().value(); };
  const auto append = [&] {
    const auto state = ledger.lock();
    ASSERT_TRUE(state->catalog().append(catalog::QuarantineRecord{{"app", 1, {1, 1}}, 0, 0, std::string(1024, 'x')}));
  };
  for (int i = 0; i < 8; ++i) append();
  const std::uint64_t before = log_bytes();
  {
    UseWhileSyncing hooks(append);
    ASSERT_TRUE(compact_catalog(ledger));
    EXPECT_EQ(hooks.synced, 2) << "the snapshot, and the directory";
  }
  EXPECT_LT(log_bytes(), before);
  ASSERT_TRUE(compact_catalog(ledger)) << "not worth while now";
}

}  // namespace
}  // namespace perdure::engine
