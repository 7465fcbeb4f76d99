#include "turns.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "references.hpp"

namespace perdure::bench {
namespace {

constexpr const char* kName = "lost";

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "lost_time: %s\n", what.c_str());
  std::exit(1);
}

volatile std::uint64_t result_of_computing;

// Works within a processor's own cache: a disturbance takes its time or its processor, not its memory bandwidth.
void compute(std::uint64_t steps) {
  static std::vector<std::uint64_t> own((128U << 10) / sizeof(std::uint64_t), 1);
  std::uint64_t x = steps | 1;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    x = x * 0x5851f42d4c957f2dULL + own[at];
    own[at] = x;
    if (++at == own.size()) at = 0;
  }
  result_of_computing = x;
}

template <class Work>
double seconds_of(Work work) {
  const double begin = now_s();
  work();
  return now_s() - begin;
}

}  // namespace

Turns::Turns(const LostTime& settings)
    : settings_(settings), rewritten_(settings.bytes), restored_(rewritten_.memory().size()) {
  open();
}

Turns::~Turns() { perdure_close(&handle_); }

void Turns::open() {
  char message[1024];
  const std::string options =
      "store.path=" + settings_.store +
      ";tier.order=memory;retention.keep_last=1;job=" + std::filesystem::path(settings_.store).filename().string() +
      ";engine.mode=embedded;capture.mode=" + settings_.capture + (settings_.more.empty() ? "" : ";" + settings_.more);
  if (perdure_open(options.c_str(), &handle_, message, sizeof message) != PERDURE_OK) give_up(message);
  const auto memory = rewritten_.memory();
  check(perdure_protect(handle_, 1, memory.data(), 1, memory.size()), "protect");
}

void Turns::check(perdure_status status, const char* call) const {
  if (status != PERDURE_OK) give_up(std::string(call) + ": " + perdure_error_text(handle_));
}

nlohmann::json Turns::run() {
  nlohmann::json result = {{"benchmark", "lost_time"},
                           {"capture", settings_.capture},
                           {"bytes", settings_.bytes},
                           {"turns", settings_.turns},
                           {"cells", nlohmann::json::array()}};
  for (const Order order : {Order::sequential, Order::random})
    for (const double fraction : settings_.fractions) result["cells"].push_back(cell(fraction, order));
  result["returned_early"] = returned_early_;
  result["compared_versions"] = version_ + 1;
  return result;
}

nlohmann::json Turns::cell(double fraction, Order order) {
  const std::uint64_t steps = steps_beside(draw(fraction, order));
  nlohmann::json undisturbed_s = nlohmann::json::array(), disturbed_s = undisturbed_s, call_s = undisturbed_s;
  for (int turn = 0; turn <= settings_.turns; ++turn) {
    double without = 0, with = 0;
    // The order alternates, so that neither kind always follows the other.
    if (turn % 2 == 0) without = undisturbed(draw(fraction, order), steps);
    with = disturbed(draw(fraction, order), steps);
    if (turn % 2 == 1) without = undisturbed(draw(fraction, order), steps);
    if (turn == 0) continue;  // warms up
    undisturbed_s.push_back(without);
    disturbed_s.push_back(with);
    call_s.push_back(call_s_);
  }
  return {{"fraction", fraction},
          {"order", order == Order::random ? "random" : "sequential"},
          {"undisturbed_s", undisturbed_s},
          {"disturbed_s", disturbed_s},
          {"call_s", call_s}};
}

double Turns::undisturbed(const std::vector<std::uint32_t>& pages, std::uint64_t steps) {
  return seconds_of([&] {
    rewritten_.rewrite(pages);
    compute(steps);
  });
}

double Turns::disturbed(const std::vector<std::uint32_t>& pages, std::uint64_t steps) {
  const std::vector<std::uint32_t> at_the_call = rewritten_.generations();
  const double begin = now_s();
  check(perdure_checkpoint(handle_, kName, ++version_), "checkpoint");
  call_s_ = now_s() - begin;
  if (version_ == 0) {  // checked in a turn that does not count
    perdure_level level = PERDURE_LEVEL_NONE;
    check(perdure_level_reached(handle_, kName, version_, &level), "level");
    returned_early_ = level == PERDURE_LEVEL_NONE;
  }
  rewritten_.rewrite(pages);
  compute(steps);
  const double seconds = now_s() - begin;
  settle(at_the_call);
  return seconds;
}

// Waits until no work of the checkpoint is left for the next turn, and checks its content.
void Turns::settle(const std::vector<std::uint32_t>& at_the_call) {
  check(perdure_wait(handle_, kName, version_, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
  check(perdure_restore_part(handle_, kName, version_, 0, 1, restored_.data(), 1, restored_.size()), "restore");
  if (const std::string wrong = Rewritten::difference(restored_, at_the_call); !wrong.empty())
    give_up("version " + std::to_string(version_) + ": " + wrong);
  std::this_thread::sleep_for(std::chrono::duration<double>(settings_.settle_s));
}

std::vector<std::uint32_t> Turns::draw(double fraction, Order order) {
  return draw_pages(rewritten_.pages(), fraction, order, ++drawn_);
}

// Returns how much work, together with the rewriting of these pages, takes about one turn: the fastest of a few tries
// counts.
std::uint64_t Turns::steps_beside(const std::vector<std::uint32_t>& pages) {
  constexpr std::uint64_t kTried = 5'000'000;
  const double rewriting = seconds_of([&] { rewritten_.rewrite(pages); });
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) fastest = std::min(fastest, seconds_of([] { compute(kTried); }));
  const double left = std::max(settings_.seconds - rewriting, settings_.seconds / 10);
  return static_cast<std::uint64_t>(static_cast<double>(kTried) * left / fastest);
}

}  // namespace perdure::bench
