// Tests the engine's counters, and how they are exported.
#include "engine/serve/exporter.hpp"

#include <gmock/gmock.h>

#include "base/json.hpp"
#include "engine/host/engine_testing.hpp"
#include "engine/ledger/capture_testing.hpp"
#include "metrics/exposition.hpp"
#include "metrics/family_codec.hpp"
#include "support/eventually.hpp"

namespace perdure::engine {
namespace {

/// Returns all samples of simple metrics, by name and the value of their last label.
std::map<std::string, double> values_of(const std::vector<metrics::Family>& families) {
  std::map<std::string, double> values;
  for (const auto& family : families)
    for (const auto& sample : family.samples) {
      const std::string key = family.name.substr(8) + (sample.labels.empty() ? "" : "/" + sample.labels.back().second);
      values[key] = sample.value;
      if (!sample.distribution) continue;
      for (const auto count : sample.distribution->counts) values[key] += static_cast<double>(count);
    }
  return values;
}

class NodeStateMetrics : public CaptureFixture {
 protected:
  std::map<std::string, double> values() {
    metrics::Collection out;
    export_core(*core, out);
    auto families = out.take();
    const auto text = metrics::encode(families);
    EXPECT_TRUE(text) << text.error().text();
    return values_of(families);
  }
  double value(const std::string& name) {
    const auto all = values();
    const auto found = all.find(name);
    EXPECT_NE(found, all.end()) << name;
    return found == all.end() ? -1 : found->second;
  }
};

TEST_F(NodeStateMetrics, CountACaptureOfSeveralRanksOnce) {
  open({4}, early(DuringCapture::never));
  announce(1, id(1), 1, 2);
  announce(2, id(1), 1, 2);
  EXPECT_EQ(value("checkpoints_begun_total"), 1);
  EXPECT_EQ(value("checkpoints_under_way"), 1);
  for (ClientId client : {1, 2}) ASSERT_TRUE(stage_slots(client, id(1), {write(client, id(1), 0)}, 2));
  const ipc::Commit commit{id(1), {{0, 1, {0, 1}}}};
  ASSERT_TRUE(core->held.commit(commit));
  ASSERT_TRUE(core->held.commit(commit)) << "the other rank's";
  EXPECT_EQ(value("checkpoints_committed_total"), 1);
  EXPECT_EQ(value("checkpoints_under_way"), 0);
  EXPECT_EQ(value("capture_bytes_total"), 2 * kChunk);
  EXPECT_EQ(value("capture_seconds"), 1);
  EXPECT_EQ(value("chunks_placed_total/file"), 2);
  EXPECT_EQ(value("tier_slots_used/file"), 2);
  EXPECT_EQ(value("tier_slots/file"), 4);
  EXPECT_EQ(value("tier_limit_bytes/file"), 4 * kChunk);
  EXPECT_EQ(value("unflushed_bytes"), 2 * kChunk);
  EXPECT_EQ(value("versions/process"), 1);
  EXPECT_EQ(values().count("newest_checkpoint_timestamp_seconds/store"), 0u) << "none is there yet";
}

TEST_F(NodeStateMetrics, CountACaptureThatIsGivenUpOnce) {
  open({4}, early(DuringCapture::never));
  announce(1, id(1), 1);
  ASSERT_TRUE(core->held.abort(1, id(1)));
  ASSERT_TRUE(core->held.abort(1, id(1)));
  announce(1, id(2), 1);
  core->client_gone(1, 0);
  EXPECT_EQ(value("checkpoints_begun_total"), 2);
  EXPECT_EQ(value("checkpoints_aborted_total"), 2);
  EXPECT_EQ(value("checkpoints_committed_total"), 0);
  EXPECT_EQ(value("checkpoints_under_way"), 0);
  ASSERT_TRUE(core->held.abort(1, id(3))) << "never announced";
  EXPECT_EQ(value("checkpoints_aborted_total"), 2);
}

TEST_F(NodeStateMetrics, TellVersionsByTheirLevel) {
  open({4});
  checkpoint(1);
  checkpoint(2);
  store(1);
  EXPECT_EQ(value("versions/store"), 1);
  EXPECT_EQ(value("versions/process"), 1);
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/process"), 2e-9);
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/node"), 1e-9) << "what the store has survives nodes, too";
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/store"), 1e-9);
  EXPECT_EQ(value("unflushed_bytes"), kChunk);
  open({4});  // replays the catalog
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/process"), 2e-9);
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/store"), 1e-9);
  EXPECT_EQ(value("checkpoints_committed_total"), 0) << "of an earlier engine";
}

TEST_F(NodeStateMetrics, CountWhatWasEvictedAndWhatWasLostByThat) {
  open({2});
  checkpoint(1);
  store(1);
  checkpoint(2);
  core->flushes.failed(id(2), {PERDURE_IO, "store", "it burns", "", true}, false);
  EXPECT_EQ(value("store_failing"), 1);
  checkpoint(3);
  EXPECT_EQ(value("evictions_total/stored"), 1);
  core->flushes.failed(id(2), {PERDURE_IO, "store", "it burns", "", true}, true);
  EXPECT_EQ(value("versions_given_up"), 1);
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/process"), 3e-9);
  EXPECT_DOUBLE_EQ(value("newest_checkpoint_timestamp_seconds/store"), 1e-9) << "it needs no slots for that";
  checkpoint(4);
  EXPECT_EQ(value("evictions_total/unstored"), 1);
  EXPECT_EQ(value("flush_failures_total/retried"), 1);
  EXPECT_EQ(value("flush_failures_total/given_up"), 1);
  store(4);
  EXPECT_EQ(value("store_failing"), 0);
}

TEST_F(NodeStateMetrics, CountChunksAsTheyReachTheStore) {
  open({4}, early(DuringCapture::always));
  announce(1, id(1), 2);
  const auto slot = write(1, id(1), 0);
  flush(id(1), chunk_in(slot, 0));
  EXPECT_EQ(value("flush_bytes_total"), kChunk);
  EXPECT_EQ(value("flush_seconds"), 0) << "the version is not there";
}

TEST_F(NodeStateMetrics, CountWhatIsSetAsideOnce) {
  open({4});
  checkpoint(1);
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "its hash is wrong"}));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "its hash is wrong"}));
  EXPECT_EQ(value("quarantined_total/chunk"), 1);
}

class MetricsRequest : public EngineFixture {
 protected:
  static std::map<std::string, double> ask(ipc::Channel& channel) {
    const auto reply = channel.call(ipc::Metrics{});
    if (!reply) ADD_FAILURE() << reply.error().text();
    const auto page = base::decode_cbor(reply->cbor, "engine").value();
    const auto families = metrics::families_from_json(page["families"], "engine");
    if (!families) ADD_FAILURE() << families.error().text();
    return values_of(*families);
  }
};

TEST_F(MetricsRequest, SaysWhoseTheyAreAndHasAllThatIsDefined) {
  ASSERT_TRUE(start("job=mine;tier.order=file"));
  auto channel = client();
  const auto reply = base::decode_cbor(channel.call(ipc::Metrics{}).value().cbor, "engine").value();
  EXPECT_EQ(reply["labels"], (base::Json{{"node", "here"}, {"perdure_job", "mine"}}));
  const auto families = metrics::families_from_json(reply["families"], "engine").value();
  std::set<std::string> named;
  for (const auto& family : families) {
    named.insert(family.name);
    const auto* definition = metrics::find_definition(family.name);
    ASSERT_NE(definition, nullptr) << family.name;
    EXPECT_EQ(family.kind, definition->kind);
    for (const auto& sample : family.samples) {
      std::string labels;
      for (const auto& [name, value] : sample.labels) {
        labels += (labels.empty() ? "" : ", ") + name;
        EXPECT_NE((std::string(", ") + definition->labels + ", ").find(", " + name + ", "), std::string::npos)
            << family.name << " has a label '" << name << "' that is not defined";
      }
    }
  }
  // Metrics of the tool, and metrics that appear only after an event.
  const std::set<std::string> others = {"perdure_engines", "perdure_engine_up", "perdure_application_slowdown_ratio",
                                        "perdure_newest_checkpoint_timestamp_seconds"};
  for (const auto& definition : metrics::definitions())
    EXPECT_EQ(named.contains(definition.name), !others.contains(definition.name)) << definition.name;
}

TEST_F(MetricsRequest, CountsWaitsForSlotsWhenTheyAreOver) {
  ASSERT_TRUE(start("tier.order=file;tier.file.max_bytes=64KiB;chunk_bytes=64KiB"));
  auto holder = client(), waiter = client(1), asker = client(2);
  const segment::VersionId one{"app", 1, {1, 1}}, two{"app", 2, {2, 1}};
  ASSERT_TRUE(holder.call(ipc::Grant{one, kChunk, 0, {}, {}}));
  const auto waits = waiter.post(ipc::Grant{two, kChunk, 0, {}, {}});
  ASSERT_TRUE(waits);
  ASSERT_TRUE(test_support::eventually("the request waits", [&] { return ask(asker)["slot_requests_waiting"] >= 1; }));
  auto values = ask(asker);
  EXPECT_EQ(values["clients"], 3);
  EXPECT_EQ(values["slot_wait_seconds"], 0) << "it has not ended";
  ASSERT_TRUE(holder.call(ipc::Abort{one}));
  ASSERT_TRUE(waiter.await(*waits));
  values = ask(asker);
  EXPECT_EQ(values["slot_requests_waiting"], 0);
  EXPECT_EQ(values["slot_wait_seconds"], 1);
}

TEST_F(MetricsRequest, CountsWhatRanksRestored) {
  ASSERT_TRUE(start("tier.order=file"));
  auto channel = client();
  ASSERT_TRUE(channel.tell(ipc::Restored{4096, 17}));
  const auto values = ask(channel);
  EXPECT_EQ(values.at("restored_bytes_total/slot"), 4096);
  EXPECT_EQ(values.at("restored_bytes_total/store"), 17);
}

}  // namespace
}  // namespace perdure::engine
