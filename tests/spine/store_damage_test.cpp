// Tests damage in the store. A bad segment is always refused with the reason and quarantined, and all ranks take the
// next older version.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "base/hash.hpp"
#include "damage.hpp"
#include "modes.hpp"
#include "segment/segment.hpp"
#include "store/store.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr std::size_t kWords = 24000;  // two chunks

RunOptions two_ranks() {
  RunOptions run;
  run.ranks = 2;
  return run;
}

std::string options(const std::string& directory, const std::string& mode) {
  return options_in(directory, mode, "node.ranks_per_node=1;retention.keep_last=3");
}

/// A store with versions 1 to 3 of two segments each, captured in this mode.
class SampleStore {
 public:
  explicit SampleStore(const std::string& mode) {
    Program program{options(directory_.path(), mode)};
    program.words = kWords;
    program.last = 3;
    program.wait_for_store = true;
    program.on_write = mode.ends_with(kOnWrite);
    const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) { return program.run(rank); });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  const std::string& path() const { return path_; }

 private:
  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "store";
};

/// Made once for modes that copy on write, and once for the others.
template <bool on_write>
const std::string& sample_store() {
  static const SampleStore sample(on_write ? "embedded_on_write" : "embedded");
  return sample.path();
}

void copy_sample_store(const std::string& mode, const std::string& store) {
  fs::copy(mode.ends_with(kOnWrite) ? sample_store<true>() : sample_store<false>(), store, fs::copy_options::recursive);
}

fs::path segment_of(const std::string& store, int version, const std::string& index) {
  for (const auto& entry : fs::directory_iterator(store + "/app/" + std::to_string(version)))
    if (entry.path().filename().string().starts_with(index)) return entry.path();
  return {};
}

std::uint64_t trailer_at(const fs::path& path) { return fs::file_size(path) - segment::kTrailerBytes; }

std::uint64_t manifest_at(const fs::path& path) {
  std::uint64_t offset = 0;
  std::memcpy(&offset, read_bytes(path).data() + trailer_at(path) + 8, sizeof offset);
  return offset;
}

// Writes a trailer with a right hash that says that the manifest has `length` bytes.
void claim_manifest_of(const fs::path& path, std::uint64_t length) {
  auto bytes = read_bytes(path);
  char* trailer = bytes.data() + trailer_at(path);
  std::memcpy(trailer + 16, &length, sizeof length);
  const auto hash = base::hash128(std::as_bytes(std::span(trailer, 48))).bytes();
  std::memcpy(trailer + 48, hash.data(), hash.size());
  write_bytes(path, bytes);
}

// Writes a segment whose hashes are all right, but whose manifest claims a capture of 2^60 bytes in one chunk.
void claim_giant_region(const fs::path& path) {
  const auto name = *segment::parse_file_name(path.filename().string());
  segment::Manifest manifest{{"app", 3, name.attempt}, 2, name.index, name.count, "test", {}};
  manifest.pieces.push_back(
      {name.index, 1ULL << 60, {{1, 8, 1}, {2, 8, (1ULL << 57) - 1}}, {{4096, 1ULL << 60, {}, 0}}});
  auto file = segment::encode_header(manifest);
  file.resize(8192);
  const auto tail = segment::encode_tail(manifest, 8192);
  file.insert(file.end(), tail.begin(), tail.end());
  write_bytes(path,
              {reinterpret_cast<const char*>(file.data()), reinterpret_cast<const char*>(file.data()) + file.size()});
}

struct Damage {
  std::string name, reason;
  std::function<void(const fs::path&)> harm;
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

std::vector<Damage> damages() {
  return {
      {"Header", "header block damaged", [](const fs::path& p) { flip_bit(p, 300); }},
      {"Magic", "not a Perdure segment", [](const fs::path& p) { flip_bit(p, 1); }},
      {"Chunk", "chunk 0 of rank 1 at offset 4096 (131072 bytes) damaged",
       [](const fs::path& p) { flip_bit(p, 4096 + 777); }},
      {"SecondChunk", "chunk 1 of rank 1 at offset", [](const fs::path& p) { flip_bit(p, 4096 + (128 << 10) + 5); }},
      {"Manifest", "manifest damaged", [](const fs::path& p) { flip_bit(p, manifest_at(p) + 9); }},
      {"Trailer", "trailer damaged", [](const fs::path& p) { flip_bit(p, trailer_at(p) + 20); }},
      {"Truncated", "truncated", [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) / 2 / 4096 * 4096); }},
      {"TruncatedByOneByte", "truncated", [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) - 1); }},
      {"Empty", "the file is empty", [](const fs::path& p) { fs::resize_file(p, 0); }},
      {"EightZeroBytes", "too short for a segment", [](const fs::path& p) { write_bytes(p, std::vector<char>(8)); }},
      {"Foreign", "not a Perdure segment", [](const fs::path& p) { write_bytes(p, std::vector<char>(16384, 'x')); }},
      {"GiantManifest", "manifest length", [](const fs::path& p) { claim_manifest_of(p, 1ULL << 40); }},
      {"GiantRegion", "reach beyond", claim_giant_region},
      {"AnotherVersionsSegment", "belongs to another segment",
       [](const fs::path& p) {
         write_bytes(p, read_bytes(segment_of(p.parent_path().parent_path().parent_path(), 2, "0001")));
       }},
  };
}

std::vector<Damage> on_write_damages() {
  auto some = damages();
  some.resize(unless_sanitized(some.size(), std::size_t{4}));
  return some;
}

template <class Named>
std::string mode_and_name(const ::testing::TestParamInfo<std::tuple<std::string, Named>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

class StoreDamage : public ::testing::TestWithParam<std::tuple<std::string, Damage>> {};
INSTANTIATE_TEST_SUITE_P(Every, StoreDamage,
                         ::testing::Combine(::testing::Values("embedded", "daemon"), ::testing::ValuesIn(damages())),
                         mode_and_name<Damage>);
INSTANTIATE_TEST_SUITE_P(OnWrite, StoreDamage,
                         ::testing::Combine(::testing::Values("embedded_on_write", "daemon_on_write"),
                                            ::testing::ValuesIn(on_write_damages())),
                         mode_and_name<Damage>);

std::string quarantine_reports(const std::string& store) {
  std::string all;
  if (!fs::exists(store + "/.quarantine")) return "no quarantine";
  for (const auto& entry : fs::directory_iterator(store + "/.quarantine"))
    if (entry.path().extension() == ".json") {
      const auto bytes = read_bytes(entry.path());
      all.append(bytes.begin(), bytes.end());
    }
  return all;
}

TEST_P(StoreDamage, IsRefusedWithTheReasonAndTheNextOlderVersionIsTaken) {
  const auto& [mode, damage] = GetParam();
  if (lacks_protection(mode)) GTEST_SKIP() << kNoProtection;
  TemporaryDirectory directory;
  const std::string store = directory.path() + "/store";
  copy_sample_store(mode, store);
  damage.harm(segment_of(store, 3, "0001"));
  const auto outcome = run_ranks(two_ranks(), [&, mode = mode](const Rank& rank) {
    perdure_t* handle = rank.open(options(directory.path(), mode));
    State state(rank.rank, kWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    perdure_restored_info restored{};
    perdure_passed_over_info passed{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restored(handle, &restored));
    REQUIRE(restored.version == 2 && restored.passed_over == 1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_passed_over(handle, 0, &passed));
    REQUIRE(passed.version == 3 && passed.created_ns > restored.created_ns && passed.why[0] != '\0');
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_passed_over(handle, 1, &passed));
    std::int64_t latest = -1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, "app", &latest));
    REQUIRE(latest == 2);
    for (int version : {3, 4}) {
      state.advance(static_cast<std::uint64_t>(version));
      REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, version));
    }
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  EXPECT_NE(quarantine_reports(store).find(damage.reason), std::string::npos) << quarantine_reports(store);
  EXPECT_EQ(std::distance(fs::directory_iterator(store + "/.quarantine"), fs::directory_iterator{}), 2)
      << "the piece and its report";
  fs::remove_all(store + "/.quarantine");
  expect_clean_store(store, "app", {2, 3, 4});
}

class Store : public InAMode {};
INSTANTIATE_TEST_SUITE_P(Modes, Store, ::testing::Values("embedded", "daemon"), mode_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, Store, ::testing::Values("embedded_on_write", "daemon_on_write"), mode_name);

// The file's origin is unknown: a program must not start anew because of it, unasked.
TEST_P(Store, AFileOfEightZeroBytesIsNoCheckpointAndNoFirstStartEither) {
  TemporaryDirectory directory;
  const std::string version = directory.path() + "/store/app/9";
  fs::create_directories(version);
  write_bytes(version + "/" + segment::file_name(0, 1, {1700000000000000000ULL, 7}), std::vector<char>(8));
  write_bytes(version + "/app-9.ckpt", std::vector<char>(8));
  const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options(directory.path(), GetParam()));
    State state(rank.rank, kWords);
    state.protect(handle);
    std::int64_t latest = -1;
    REQUIRE_STATUS(PERDURE_CORRUPT, handle, perdure_latest(handle, "app", &latest));
    REQUIRE(latest == -1);
    REQUIRE_STATUS(PERDURE_CORRUPT, handle, perdure_restore(handle, "app", 9));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 8));  // it is no first start
    perdure_level level;
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_level_reached(handle, "app", 9, &level));
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, 9));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, "app", &latest));
    REQUIRE(latest == 9);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
}

TEST_P(Store, WithNothingButDamageGivesAnErrorAndStillWorks) {
  TemporaryDirectory directory;
  const std::string store = directory.path() + "/store";
  copy_sample_store(GetParam(), store);
  for (int version : {1, 2, 3}) flip_bit(segment_of(store, version, version == 2 ? "0000" : "0001"), 5000);
  const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options(directory.path(), GetParam()));
    State state(rank.rank, kWords);
    state.protect(handle);
    for (int call = 0; call < 2; ++call)
      REQUIRE_STATUS(PERDURE_CORRUPT, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    state.advance(7);
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, 7));
    state.advance(0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 7 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  EXPECT_EQ(std::distance(fs::directory_iterator(store + "/.quarantine"), fs::directory_iterator{}), 6);
}

// The README's program meets a damaged only version: it ends with an error, at every start, until the user decides.
struct LastOne {
  std::string name;
  perdure_status status;
  std::function<void(const fs::path&)> harm;
};
void PrintTo(const LastOne& last, std::ostream* out) { *out << last.name; }

std::vector<LastOne> last_ones() {
  return {{"Header", PERDURE_CORRUPT, [](const fs::path& p) { flip_bit(p, 300); }},
          {"Manifest", PERDURE_CORRUPT, [](const fs::path& p) { flip_bit(p, manifest_at(p) + 9); }},
          {"Chunk", PERDURE_CORRUPT, [](const fs::path& p) { flip_bit(p, 4096 + 777); }},
          {"Missing", PERDURE_INCOMPLETE, [](const fs::path& p) { fs::remove(p); }}};
}

class LastVersion : public ::testing::TestWithParam<std::tuple<std::string, LastOne>> {};
INSTANTIATE_TEST_SUITE_P(Every, LastVersion,
                         ::testing::Combine(::testing::Values("embedded", "daemon"), ::testing::ValuesIn(last_ones())),
                         mode_and_name<LastOne>);
INSTANTIATE_TEST_SUITE_P(OnWrite, LastVersion,
                         ::testing::Combine(::testing::Values("embedded_on_write", "daemon_on_write"),
                                            ::testing::ValuesIn(last_ones())),
                         mode_and_name<LastOne>);

TEST_P(LastVersion, ThatCannotBeReadIsNeverTakenForAFirstStart) {
  const auto& [mode, last] = GetParam();
  if (lacks_protection(mode)) GTEST_SKIP() << kNoProtection;
  TemporaryDirectory directory;
  const std::string store = directory.path() + "/store";
  copy_sample_store(mode, store);
  for (int version : {1, 2}) fs::remove_all(store + "/app/" + std::to_string(version));
  last.harm(segment_of(store, 3, "0001"));
  for (int start = 0; start < 2; ++start) {
    const auto outcome = run_ranks(two_ranks(), [&, mode = mode, expected = last.status](const Rank& rank) {
      perdure_t* handle = rank.open(options(directory.path(), mode));
      State state(rank.rank, kWords);
      state.protect(handle);
      for (int call = 0; call < 2; ++call) {
        REQUIRE_STATUS(expected, handle, perdure_restore(handle, "app", PERDURE_LATEST));
        const std::string text = perdure_error_text(handle);
        REQUIRE(text.find("app") != std::string::npos && text.find("perdure forget app") != std::string::npos);
        REQUIRE(expected != PERDURE_CORRUPT || text.find(".pds") != std::string::npos);
      }
      std::int64_t latest = -1;
      REQUIRE_STATUS(expected, handle, perdure_latest(handle, "app", &latest));
      REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "another", PERDURE_LATEST));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory.path());
  }
  // The user has decided.
  ASSERT_TRUE(store::make_store(store).value()->forget("app", UINT64_MAX / 2));
  const auto outcome = run_ranks(two_ranks(), [&, mode = mode](const Rank& rank) {
    perdure_t* handle = rank.open(options(directory.path(), mode));
    State state(rank.rank, kWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, PERDURE_FOREVER));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
}

// The same while engines hold the forgotten version.
TEST_P(Store, WhatWasForgottenIsNotTakenFromTiersEither) {
  TemporaryDirectory directory;
  const std::string store = directory.path() + "/store";
  ASSERT_TRUE(store::make_store(store).value()->prepare());
  for (const bool forgotten : {false, true}) {
    ASSERT_TRUE(!forgotten || store::make_store(store).value()->forget("app", UINT64_MAX / 2));
    const auto outcome = run_ranks(two_ranks(), [&, forgotten](const Rank& rank) {
      perdure_t* handle = rank.open(options(directory.path(), GetParam()) + ";flush.max_bandwidth=8KiB");
      State state(rank.rank, 64);
      state.protect(handle);
      REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      state.advance(3);
      REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, 3));
      if (!forgotten) ::_exit(0);  // an embedded engine dies, a daemon lives
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  stop_daemons(directory.path());
}

}  // namespace
