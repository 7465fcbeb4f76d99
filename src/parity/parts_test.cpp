// Tests reading ahead, rebuilding from a damaged parity, and blocks in files of this host.
#include <gmock/gmock.h>

#include "os/file.hpp"
#include "parity/encoder.hpp"
#include "parity/parity_testing.hpp"
#include "parity/read_ahead.hpp"
#include "redundancy/kernels.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::parity {
namespace {

using network::error_text;

TEST(ReadAhead, GivesPiecesInOrderWhateverOrderTheyComeIn) {
  for (const unsigned threads : {1U, 3U}) {
    std::atomic<std::size_t> fetched{0};
    ReadAhead reads(100, 5, 8, threads, [&](std::size_t index, ByteSpan buffer) -> base::Result<std::size_t> {
      ++fetched;
      buffer[0] = static_cast<std::byte>(index);
      return 1 + index % 8;
    });
    for (std::size_t i = 0; i < 100; ++i) {
      const auto piece = reads.next();
      ASSERT_TRUE(piece);
      EXPECT_EQ(piece->size(), 1 + i % 8);
      EXPECT_EQ((*piece)[0], static_cast<std::byte>(i));
      EXPECT_LE(fetched, i + 5) << "no further ahead than there are buffers";
    }
  }
}

TEST(ReadAhead, EndsWithTheFirstErrorAndMayBeLeftEarly) {
  const auto fetch = [](std::size_t index, ByteSpan) -> base::Result<std::size_t> {
    if (index == 3) return base::fail(PERDURE_IO, "piece", "it is gone");
    return 1;
  };
  ReadAhead reads(50, 4, 8, 2, fetch);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(reads.next());
  EXPECT_EQ(reads.next().error().code, PERDURE_IO);
  ReadAhead left(50, 4, 8, 2, fetch);
  EXPECT_TRUE(left.next());
}

/// Does the server's part without a server.
class RebuildParts : public ParityTest {
 protected:
  void SetUp() override {
    pool_ = *Pool::make(1 << 20, "pool", false);
    rebuilds_ = std::make_unique<Rebuilds>(*Pool::make(1 << 20, "scratch", false));
    user_ = network::open_endpoint(fabric_->make_wire(), network::sample_options());
    reader_ = std::make_unique<Reader>(*user_, sample_server().reads);
    add_node({9000}), add_node({5000}), add_node({9000});
    const Order order = order_of(nodes_, "v");
    record_ = std::make_shared<Record>();
    record_->id = order.id;
    record_->stripes = stripes_of(order);
    record_->stripes[0].memory = std::move(*pool_->take(9000));
    ASSERT_TRUE(encode_order(*reader_, order, *record_, 2));
  }
  Rebuild request() {
    Rebuild request{text_bytes("v"), 0, 1, 5000, {}};
    for (unsigned p : {0U, 2U}) {
      const Block& block = nodes_[p]->blocks()[0];
      request.survivors.push_back(
          {static_cast<std::uint16_t>(p), block.hash, 9000, nodes_[p]->endpoint().address(), block.memory, 0});
    }
    return request;
  }
  Rebuilt outcome() {
    const auto job = rebuilds_->add(7, request(), record_);
    EXPECT_TRUE(job) << error_text(job);
    rebuilds_->run(*user_, *reader_, *job);
    const Rebuilt rebuilt = rebuilds_->standing(7, (*job)->ticket);
    EXPECT_EQ(rebuilds_->standing(8, (*job)->ticket).stage, Stage::unknown) << "another client's";
    return rebuilt;
  }

  std::shared_ptr<Pool> pool_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Rebuilds> rebuilds_;
  RecordPointer record_;
};

TEST_F(RebuildParts, AFlippedByteInAParityIsFoundBeforeAnythingIsGivenOut) {
  EXPECT_EQ(outcome().stage, Stage::done);
  record_->stripes[0].memory.span()[8000] ^= std::byte{1};
  const Rebuilt damaged = outcome();
  EXPECT_EQ(damaged.stage, Stage::failed);
  EXPECT_EQ(damaged.why.code, PERDURE_CORRUPT);
  EXPECT_THAT(damaged.why.object, ::testing::HasSubstr("parity of stripe 0"));
}

TEST_F(RebuildParts, WhatALostClientWantedIsGivenUp) {
  EXPECT_EQ(outcome().stage, Stage::done);
  EXPECT_EQ(outcome().stage, Stage::done);
  const auto waiting = rebuilds_->add(9, request(), record_);
  ASSERT_TRUE(waiting);
  rebuilds_->end_all_of(*user_, 7);
  EXPECT_EQ(rebuilds_->size(), 1u);
  rebuilds_->end_all_of(*user_, 9);
  EXPECT_EQ(rebuilds_->size(), 0u);
  rebuilds_->run(*user_, *reader_, *waiting);
  EXPECT_EQ((*waiting)->stage, Stage::failed) << "nothing is read for it any more";
  EXPECT_EQ((*waiting)->why.code, PERDURE_CLOSED);
}

TEST_F(RebuildParts, TooMuchAtOnceIsToBeTriedAgain) {
  rebuilds_ = std::make_unique<Rebuilds>(*Pool::make(16'384, "scratch", false));
  EXPECT_EQ(outcome().stage, Stage::done);  // nobody takes the result
  const Rebuilt second = outcome();
  EXPECT_EQ(second.stage, Stage::failed);
  EXPECT_EQ(second.why.code, PERDURE_BUSY);
  rebuilds_->end_all_of(*user_, 7);
  EXPECT_EQ(outcome().stage, Stage::done);
}

class BlocksOnThisHost : public ParityTest {
 protected:
  test_support::TemporaryDirectory directory_;
};

TEST_F(BlocksOnThisHost, AreReadFromTheirFilesAndVerifiedLikeAllOthers) {
  start();
  add_node({9000, 300}), add_node({5000});
  // The exposed memory differs from the file, which shows which of both was read.
  const Bytes data = sample_bytes(77, 20'000);
  Bytes decoy(data.size());
  const std::string path = directory_ / "slots";
  ASSERT_TRUE(os::write_file_atomically(path, data));
  const auto exposed = user_->expose(decoy, network::Access::read, network::FileHint{path, 0});
  ASSERT_TRUE(exposed) << error_text(exposed);
  const ConstByteSpan block = ConstByteSpan(data).subspan(1000, 15'000);
  Order order = order_of(nodes_, "v");
  order.members.push_back({user_->address(), {{*exposed, 1000, block.size(), base::hash128(block)}}});
  ASSERT_TRUE(client_->encode(order));
  const auto standing = client_->wait(order.id, kPatience);
  ASSERT_EQ(standing->stage, Stage::done) << standing->why.text();
  Bytes expected = parity_of(nodes_, 0);
  expected.resize(block.size());
  redundancy::exclusive_or_into(expected.data(), block.data(), block.size());
  EXPECT_EQ(client_->find(order.id)->parities[0].hash, base::hash128(expected));

  order.id = text_bytes("damaged");
  order.members[2].blocks[0].offset += 1;
  ASSERT_TRUE(client_->encode(order));
  const auto failed = client_->wait(order.id, kPatience);
  EXPECT_EQ(failed->stage, Stage::failed);
  EXPECT_EQ(failed->why.code, PERDURE_CORRUPT);
}

}  // namespace
}  // namespace perdure::parity
