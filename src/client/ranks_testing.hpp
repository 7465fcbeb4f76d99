#pragma once
// Runs a job whose ranks are threads of the test, on simulated nodes with embedded engines.
#include <gtest/gtest.h>

#include <functional>

#include "capture/generated_testing.hpp"
#include "client/session.hpp"
#include "client/version_reader.hpp"
#include "client/write/version_writer.hpp"
#include "comm/counting_testing.hpp"
#include "engine/host/node_directory.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"
#include "support/thread_group.hpp"

namespace perdure::client {

class JobOfThreads : public testing::Test {
 protected:
  static constexpr std::uint64_t kChunk = 64 * base::KiB, kBytes = 200'000;  // four chunks, the last one shorter

  std::string options(const std::string& more = "") const {
    const std::string at = directory_.path();
    return "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at + "/file;" + chunks_ +
           "tier.memory.max_bytes=16MiB;tier.file.max_bytes=16MiB;flush.retry_initial=0.02;"
           "flush.retry_max=0.2;node.ranks_per_node=" +
           std::to_string(per_node_) + ";" + more;
  }
  /// Opens a job on every rank and does `work`; the job ends like a process that dies.
  void on_ranks(const std::function<void(Job&)>& work) {
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      auto job = Job::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(job) << job.error().text();
      work(**job);
      EXPECT_TRUE((*job)->comm().barrier());
    });
  }
  /// Does the same with a session on each rank, which is closed at the end.
  void on_sessions(const std::function<void(Session&, std::uint32_t rank)>& work) {
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      work(**session, static_cast<std::uint32_t>(c.rank));
      EXPECT_TRUE((*session)->close());
    });
  }
  /// Each rank's data follows from its number.
  static std::uint64_t seed(std::uint32_t rank) { return 1000 + rank; }
  /// Makes the next attempt at this version, of which no rank has written anything.
  static segment::VersionId attempt_at(Job& job, std::int64_t version) {
    Opening opening{Operation::checkpoint, "app", version};
    opening.attempt = {job.known().next_attempt("app", os::wall_clock_ns()),
                       plan::nonce_on(plan::kFirstBranch, os::random_u64())};
    const auto opened = job.begin(opening, {});
    EXPECT_TRUE(opened);
    return {"app", static_cast<std::uint64_t>(version), opened->attempt};
  }
  static base::Status stage(VersionWriter& writer, const segment::VersionId& id) {
    base::Status outcome = writer.begin(id);
    for (std::size_t chunk = 0; outcome && chunk < writer.chunks(); ++chunk) outcome = writer.put(chunk);
    return outcome ? writer.stage() : outcome;
  }
  static segment::VersionId write(Job& job, std::int64_t version) {
    const auto id = attempt_at(job, version);
    capture::GeneratedSource source(kBytes, seed(job.rank()));
    VersionWriter writer(job, source);
    const base::Status outcome = stage(writer, id);
    EXPECT_TRUE(agree(job.comm(), outcome)) << (outcome ? "" : outcome.error().text());
    EXPECT_TRUE(writer.commit());
    return id;
  }
  static void wait_for_store(Job& job, const segment::VersionId& id) {
    const auto stored = job.engine().channel().call(ipc::WaitStored{id, 0});
    EXPECT_TRUE(stored) << stored.error().text();
    EXPECT_TRUE(job.comm().barrier());
  }
  static std::vector<std::byte> expected(std::uint32_t rank, std::uint64_t begin, std::uint64_t length) {
    std::vector<std::byte> bytes(length);
    for (std::uint64_t i = 0; i < length; ++i) bytes[i] = capture::GeneratedSource::byte_at(seed(rank), begin + i);
    return bytes;
  }
  static void expect_reads(VersionReader& reader, std::uint32_t rank, std::uint64_t begin, std::uint64_t length) {
    std::vector<std::byte> bytes(length);
    const auto status = reader.read(rank, {begin, length}, bytes);
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_EQ(bytes, expected(rank, begin, length)) << "rank " << rank << " from " << begin;
  }
  static void choose(VersionReader& reader, std::int64_t version = -1) {
    const auto chosen = reader.choose({Operation::restore, "app", version}, {});
    ASSERT_TRUE(chosen) << chosen.error().text();
  }
  /// Changes a byte of a chunk in its slot, which this rank's node holds.
  static void damage_slot(Job& job, const segment::VersionId& id, std::uint32_t rank, std::size_t chunk) {
    const auto reply = job.engine().channel().call(ipc::Locate{id, rank});
    ASSERT_TRUE(reply) << reply.error().text();
    const auto& wire = reply->slots[chunk];
    const auto file = os::File::open(wire.path, os::Open::read_write).value();
    std::vector<std::byte> byte(1);
    ASSERT_TRUE(file.read(wire.offset + 100, byte));
    byte[0] ^= std::byte{1};
    ASSERT_TRUE(file.write(wire.offset + 100, byte));
  }
  /// Gives the prefix of the names of a node's directories.
  std::string key_of_node(int number) const {
    config::Config config;
    EXPECT_TRUE(config.set_all(options(more_), config::Origin::program));
    return engine::node_key(config, os::host_name() + "#" + std::to_string(number));
  }
  void lose_node(int number) const {
    const std::string key = key_of_node(number);
    std::size_t removed = 0;
    for (const std::string part : {"/node/", "/file/"}) {
      const auto entries = os::list_directory(directory_.path() + part);
      ASSERT_TRUE(entries) << entries.error().text();
      for (const auto& entry : *entries) {
        if (!entry.name.starts_with(key)) continue;
        ASSERT_TRUE(os::remove_tree(directory_.path() + part + entry.name));
        ++removed;
      }
    }
    ASSERT_GT(removed, 0U);
  }

  test_support::TemporaryDirectory directory_;
  int ranks_ = 4, per_node_ = 2;
  std::string more_;
  std::string chunks_ = "chunk_bytes=64KiB;";
};

}  // namespace perdure::client
