#include "engine_writer.hpp"

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "ipc/channel.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::studies {
namespace {

constexpr const char* kName = "study";
constexpr std::uint64_t kWarmUpChunks = 64;  // twice the window of the engine's average over flushes
constexpr std::uint64_t kPatienceNs = 10'000'000'000;

/// Returns the data of `perdure top` about the one engine below this directory.
base::Result<base::Json> look_at_engine(const std::string& directory) {
  PERDURE_TRY(const auto entries, os::list_directory(directory + "/node"));
  if (entries.empty()) return base::fail(PERDURE_NOT_FOUND, directory, "no engine lives here");
  PERDURE_TRY(auto channel, ipc::Channel::connect(directory + "/node/" + entries.front().name + "/socket"));
  ipc::Hello hello;
  hello.client = false;
  PERDURE_CHECK(channel.call(hello, kPatienceNs));
  PERDURE_TRY(const auto view, channel.call(ipc::Top{}, kPatienceNs));
  return base::decode_cbor(view.cbor, directory);
}

/// Returns the chunks that got a slot on each tier since the engine began.
base::Result<std::vector<std::uint64_t>> chunks_placed(const std::string& directory) {
  PERDURE_TRY(const auto engine, look_at_engine(directory));
  PERDURE_TRY(const base::Json* tiers, base::get_array(engine, "tiers", "top"));
  std::vector<std::uint64_t> placed;
  for (const base::Json& tier : *tiers) {
    PERDURE_TRY(const std::uint64_t chunks, base::get_u64(tier, "chunks_placed", "top"));
    placed.push_back(chunks);
  }
  return placed;
}

class Writer {
 public:
  Writer(const EngineRun& run, const perdure_communicator& ranks, Findings& findings)
      : run_(run), ranks_(ranks), findings_(findings), rank_(static_cast<std::uint64_t>(ranks.rank)) {}

  void work() {
    fill();
    if (!open()) return;
    warm_up();
    protect(run_.scenario.chunks);
    if (rank_ == 0) findings_.placed(chunks_placed(run_.directory));
    measure();
    if (rank_ == 0) findings_.placed(chunks_placed(run_.directory));
    if (run_.verify) verify();
    check(perdure_close(&handle_), "close", "the engine left something behind");
  }

 private:
  bool open() {
    char message[1024];
    const std::string options = engine_options(run_);
    const auto status = perdure_open_communicator(&ranks_, options.c_str(), &handle_, message, sizeof message);
    if (status != PERDURE_OK) findings_.failed({status, "engine", message, "", false});
    return status == PERDURE_OK;
  }
  void fill() {
    data_.resize(run_.scenario.chunks * run_.scenario.chunk_bytes / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = content(i);
  }
  std::uint64_t content(std::size_t i) const { return (i + 1) * 0x9e3779b97f4a7c15ULL ^ (rank_ << 48U); }

  // Protects all data first, so that the tiers grow as they do when an application starts. It writes only some chunks,
  // whatever the number of writers: a second checkpoint of full size would double a study's time.
  void warm_up() {
    protect(run_.scenario.chunks);
    const std::uint64_t writers = run_.scenario.writers;
    const std::uint64_t all = std::min(kWarmUpChunks, writers * run_.scenario.chunks);
    protect(all / writers + (rank_ < all % writers ? 1 : 0));
    check(perdure_checkpoint(handle_, kName, 1), "warm-up checkpoint");
    check(perdure_wait(handle_, kName, 1, PERDURE_LEVEL_STORE, run_.patience_s), "flush of the warm-up checkpoint");
    check(perdure_retire(handle_, kName, 1), "end of the warm-up checkpoint");  // the tiers are empty again
  }
  void protect(std::uint64_t chunks) {
    const std::size_t words = chunks * run_.scenario.chunk_bytes / sizeof(std::uint64_t);
    check(perdure_protect(handle_, 1, data_.data(), sizeof(std::uint64_t), words), "protect");
  }
  void measure() {
    ranks_.barrier(ranks_.context);
    findings_.began(os::monotonic_ns());
    check(perdure_checkpoint(handle_, kName, 2), "checkpoint");
    findings_.captured(os::monotonic_ns());
    check(perdure_wait(handle_, kName, 2, PERDURE_LEVEL_STORE, run_.patience_s), "flush");
    findings_.stored(os::monotonic_ns());
  }
  void verify() {
    std::fill(data_.begin(), data_.end(), 0);
    check(perdure_restore(handle_, kName, 2), "restore");
    for (std::size_t i = 0; i < data_.size(); ++i) {
      if (data_[i] == content(i)) continue;
      return findings_.failed(
          {PERDURE_CORRUPT, "rank " + std::to_string(rank_), "it restored something else", "", false});
    }
  }
  void check(perdure_status status, const char* what, const char* cause = nullptr) {
    if (status == PERDURE_OK) return;
    findings_.failed({status, what, cause != nullptr ? cause : perdure_error_text(handle_), "", false});
  }

  const EngineRun& run_;
  perdure_communicator ranks_;
  Findings& findings_;
  std::uint64_t rank_;
  perdure_t* handle_ = nullptr;
  std::vector<std::uint64_t> data_;
};

}  // namespace

void write_as_rank(const EngineRun& run, const perdure_communicator& ranks, Findings& findings) {
  Writer(run, ranks, findings).work();
}

}  // namespace perdure::studies
