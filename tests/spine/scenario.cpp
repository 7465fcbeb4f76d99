#include "scenario.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "base/json.hpp"
#include "ipc/channel.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "os/write_protection.hpp"
#include "segment/reader.hpp"
#include "store/store.hpp"
#include "support/eventually.hpp"

namespace perdure::test_support {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  return x * 0xc4ceb9fe1a85ec53ULL;
}

int complain(perdure_t* handle, int rank, const char* what, perdure_status status) {
  std::fprintf(stderr, "rank %d: %s: %s: %s\n", rank, what, perdure_status_name(status), perdure_error_text(handle));
  return 92;
}

// Each engine may die once; its successor must live.
template <class Call>
perdure_status repeated(bool tolerant, Call call) {
  perdure_status status = call();
  for (int tries = 0; tolerant && tries < 8 && (status == PERDURE_UNAVAILABLE || status == PERDURE_PEER_FAILED);
       ++tries) {
    ::unsetenv("PERDURE_TEST_CRASH");
    status = call();
  }
  return status;
}

}  // namespace

std::vector<std::uint64_t> state_at(int rank, std::uint64_t step, std::size_t words) {
  std::vector<std::uint64_t> state(words);
  const std::uint64_t seed = mix(static_cast<std::uint64_t>(rank) * 1000003 + step + 1);
  for (std::size_t i = 0; i < words; ++i) state[i] = mix(seed + i);
  return state;
}

bool lacks_protection(std::string_view mode) { return mode.ends_with(kOnWrite) && !os::WriteProtection::open(); }

std::string options_in(const std::string& directory, const std::string& mode, const std::string& more) {
  const bool on_write = mode.ends_with(kOnWrite);
  const std::string engines = on_write ? mode.substr(0, mode.size() - kOnWrite.size()) : mode;
  return "store.path=" + directory + "/store;node.path=" + directory + "/node;tier.file.path=" + directory +
         "/file;chunk_bytes=128KiB;tier.memory.max_bytes=256MiB;tier.file.max_bytes=256MiB;engine.idle_exit=1;engine."
         "mode=" +
         engines + ";flush.retry_initial=0.02;flush.retry_max=0.2" + (on_write ? ";capture.mode=cow" : "") +
         (more.empty() ? "" : ";" + more);
}

int Program::run(const Rank& rank) const {
  perdure_t* handle = rank.open(options);
  std::uint64_t step = 0;
  std::vector<std::uint64_t> state = state_at(rank.rank, 0, words);
  perdure_protect(handle, 1, &step, sizeof step, 1);
  perdure_protect(handle, 2, state.data(), sizeof(std::uint64_t), state.size());
  perdure_status status =
      repeated(tolerate_lost_engine, [&] { return perdure_restore(handle, "app", PERDURE_LATEST); });
  if (status != PERDURE_OK && status != PERDURE_NOT_FOUND) return complain(handle, rank.rank, "restore", status);
  if (status == PERDURE_OK && state != state_at(rank.rank, step, words)) return 91;
  const std::int64_t restored = status == PERDURE_OK ? static_cast<std::int64_t>(step) : -1;
  if (restored < must_restore_at_least) {
    std::fprintf(stderr, "rank %d restored %ld, expected at least %ld\n", rank.rank, static_cast<long>(restored),
                 static_cast<long>(must_restore_at_least));
    return 93;
  }
  while (step < last) {
    ++step;
    status = checkpoint(handle, rank, step, state);
    if (status != PERDURE_OK) return complain(handle, rank.rank, "checkpoint", status);
    note_acknowledged(rank.rank, step);
    status = store_each_step ? wait_until_stored(handle, step) : PERDURE_OK;
    if (status != PERDURE_OK) return complain(handle, rank.rank, "wait", status);
  }
  status = wait_for_store ? wait_until_stored(handle, last) : PERDURE_OK;
  if (status != PERDURE_OK) return complain(handle, rank.rank, "wait", status);
  if (restore_at_end) {
    std::fill(state.begin(), state.end(), 0);
    status = repeated(tolerate_lost_engine, [&] { return perdure_restore(handle, "app", PERDURE_LATEST); });
    if (status != PERDURE_OK) return complain(handle, rank.rank, "second restore", status);
    if (step != last || state != state_at(rank.rank, last, words)) return 91;
  }
  status = perdure_close(&handle);
  if (status != PERDURE_OK && !tolerate_lost_engine) {
    std::fprintf(stderr, "rank %d: close: %s\n", rank.rank, perdure_status_name(status));
    return 94;
  }
  return 0;
}

perdure_status Program::checkpoint(perdure_t* handle, const Rank& rank, const std::uint64_t& step,
                                   std::vector<std::uint64_t>& state) const {
  const auto version = static_cast<std::int64_t>(step);
  const auto call = [&] {
    const auto status = repeated(tolerate_lost_engine, [&] { return perdure_checkpoint(handle, "app", version); });
    return status == PERDURE_EXISTS && tolerate_lost_engine ? PERDURE_OK : status;  // the lost engine had all it needed
  };
  if (!on_write) {
    state = state_at(rank.rank, step, words);
    // Checks that the assignment did not move the regions: same size, same buffer.
    const auto status = perdure_protect(handle, 2, state.data(), sizeof(std::uint64_t), state.size());
    return status == PERDURE_OK ? call() : status;
  }
  // An engine that is lost during the copy takes the version with it, so the test captures it again. An engine that is
  // lost later does not, and the next wait says so.
  perdure_status status = PERDURE_OK;
  for (int tries = 0; tries == 0 || (tolerate_lost_engine && tries < 8); ++tries) {
    const auto captured = state_at(rank.rank, step, words), next = state_at(rank.rank, step + 1, words);
    std::copy(captured.begin(), captured.end(), state.begin());
    status = call();
    if (status != PERDURE_OK) return status;
    std::copy(next.begin(), next.end(), state.begin());
    status =
        repeated(tolerate_lost_engine, [&] { return perdure_wait(handle, "app", version, PERDURE_LEVEL_PROCESS, 30); });
    if (status != PERDURE_UNAVAILABLE && status != PERDURE_PEER_FAILED) return status;
  }
  return status;
}

perdure_status Program::wait_until_stored(perdure_t* handle, std::uint64_t step) const {
  return repeated(tolerate_lost_engine, [&] {
    return perdure_wait(handle, "app", static_cast<std::int64_t>(step), PERDURE_LEVEL_STORE, 30);
  });
}

void Program::note_acknowledged(int rank, std::uint64_t step) const {
  if (acknowledged.empty()) return;
  auto file = os::File::open(acknowledged + "." + std::to_string(rank), os::Open::create);
  if (!file || !file->write(0, std::as_bytes(std::span(&step, 1))))
    std::fprintf(stderr, "rank %d cannot note step %lu\n", rank, static_cast<unsigned long>(step));
}

std::int64_t newest_acknowledged(const std::string& prefix, int ranks) {
  std::uint64_t newest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    std::uint64_t step = 0;
    auto file = os::File::open(prefix + "." + std::to_string(rank), os::Open::read);
    if (file && file->read(0, std::as_writable_bytes(std::span(&step, 1)))) newest = std::max(newest, step);
  }
  return static_cast<std::int64_t>(newest);
}

std::string within_reach(const std::string& program, const std::string& directory) {
  const auto place = std::filesystem::path(directory) / std::filesystem::path(program).filename();
  std::error_code other_device;
  std::filesystem::create_hard_link(program, place, other_device);
  if (other_device) std::filesystem::copy_file(program, place);
  return place.string();
}

bool become_user(unsigned user) { return ::chdir("/") == 0 && ::setgid(user) == 0 && ::setuid(user) == 0; }

void stop_daemons(const std::string& directory) {
  auto nodes = os::list_directory(directory + "/node");
  if (!nodes) return;
  for (const auto& node : *nodes) {
    const std::string path = directory + "/node/" + node.name;
    (void)eventually("the engine of " + path + " ends", [&] {
      auto lock = os::File::open(path + "/engine.lock", os::Open::read_write);
      if (!lock || lock->try_lock()) return true;
      if (auto channel = ipc::Channel::connect(path + "/socket")) {
        ipc::Hello tool;
        tool.client = false;
        if (channel->call(tool)) (void)channel->call(ipc::Shutdown{});
      }
      return false;
    });
  }
}

void expect_clean_store(const std::string& path, const std::string& name, const std::vector<std::uint64_t>& versions) {
  auto made = store::make_store(path);
  ASSERT_TRUE(made) << made.error().text();
  auto listings = (*made)->list(name);
  ASSERT_TRUE(listings) << listings.error().text();
  std::vector<std::uint64_t> found;
  for (const auto& listing : *listings) {
    EXPECT_TRUE(listing.all_present()) << listing.id.text() << " is partial";
    EXPECT_TRUE(store::read_version(**made, listing)) << listing.id.text();
    for (const auto& ref : listing.segments) {
      auto source = (*made)->open(ref);
      ASSERT_TRUE(source);
      EXPECT_TRUE(segment::verify(**source, [](std::uint64_t) {}).empty()) << ref.path;
    }
    found.push_back(listing.id.version);
  }
  EXPECT_EQ(found, versions);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const std::string file = entry.path().filename().string();
    EXPECT_TRUE(file[0] != '.' || file == ".owner" || file == ".owner.lock" || file == ".incarnation" ||
                file == ".forks")
        << "left behind: " << entry.path();
  }
}

}  // namespace perdure::test_support
