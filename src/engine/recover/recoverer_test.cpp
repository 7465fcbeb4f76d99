// Tests recoveries that are broken off, whatever they wait for. Whole recoveries: tests/spine.
#include "engine/recover/recoverer.hpp"

#include <gtest/gtest.h>

#include <condition_variable>

#include "engine/ledger/node_state_testing.hpp"
#include "os/thread.hpp"
#include "support/eventually.hpp"

namespace perdure::engine {
namespace {

/// Nodes that do not answer before the link is closed.
class SilentNodes final : public PieceNetwork {
 public:
  Address address() const override { return Address(1, std::byte{1}); }
  base::Result<BlockPlace> place(const tier::SlotAddress&) override { return nothing(); }
  std::optional<BlockView> view(const BlockPlace&, std::uint64_t) override { return std::nullopt; }
  std::unique_ptr<PieceLink> connect(std::vector<Address>) override { return std::make_unique<Link>(*this); }
  bool was_asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  class Link final : public PieceLink {
   public:
    explicit Link(SilentNodes& nodes) : nodes_(nodes) {}
    void close() noexcept override {
      const std::lock_guard lock(nodes_.mutex_);
      nodes_.closed_ = true;
      nodes_.changed_.notify_all();
    }
    base::Result<ExportAnswer> ask(unsigned, const ExportQuestion&) override {
      std::unique_lock lock(nodes_.mutex_);
      nodes_.asked_ = true;
      nodes_.changed_.notify_all();
      nodes_.changed_.wait(lock, [this] { return nodes_.closed_; });
      return base::fail(PERDURE_CLOSED, "node", "the link was closed");
    }
    void tell(unsigned, const ExportEnd&) override {}
    base::Status send(unsigned, base::ConstByteSpan) override { return {}; }
    base::Result<BlockPlace> place(const tier::SlotAddress&) override { return nothing(); }
    std::optional<BlockView> view(unsigned, const BlockPlace&, std::uint64_t) override { return std::nullopt; }
    base::Status read(unsigned, const BlockPlace&, std::uint64_t, base::ByteSpan) override { return {}; }

   private:
    SilentNodes& nodes_;
  };
  static base::Result<BlockPlace> nothing() { return base::fail(PERDURE_NOT_FOUND, "slot", "there is none"); }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool asked_ = false, closed_ = false;
};

class BrokenOff : public NodeStateFixture {
 protected:
  BrokenOff() { open({8}); }
  ipc::Recover request() {
    ipc::Recover request;
    request.id = id(1);
    request.ranks = 1;
    request.wanted = {0};
    request.nodes.emplace_back();
    request.nodes.back().node = "silent";
    request.nodes.back().address = {std::byte{2}};
    return request;
  }
};

TEST_F(BrokenOff, ARecoveryWaitsForNobodyAnyMore) {
  const auto nodes = std::make_shared<SilentNodes>();
  Recoverer recoverer({*ledger, reports, nodes, nullptr, 2});
  base::Result<ipc::Recovered> result = base::fail(PERDURE_INTERNAL, "recovery", "it did not run");
  auto thread = os::Thread::start(
      "recovery", [&] { result = recoverer.answer(1, request()); }, [](const base::Error&) { return false; });
  ASSERT_TRUE(thread);
  EXPECT_TRUE(test_support::eventually("the others are asked", [&] { return nodes->was_asked(); }));
  recoverer.break_off();
  thread->join();
  EXPECT_FALSE(result);
}

TEST_F(BrokenOff, ARecoveryThatBeginsThenDoesNotWaitEither) {
  const auto nodes = std::make_shared<SilentNodes>();
  Recoverer recoverer({*ledger, reports, nodes, nullptr, 2});
  recoverer.break_off();
  EXPECT_FALSE(recoverer.answer(1, request()));
}

}  // namespace
}  // namespace perdure::engine
