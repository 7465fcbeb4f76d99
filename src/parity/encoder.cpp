#include "parity/encoder.hpp"

#include <algorithm>
#include <mutex>

#include "os/thread.hpp"

namespace perdure::parity {
namespace {

/// The work of one of several threads: stripe by stripe, until none is left or one failed.
class Lanes {
 public:
  Lanes(Reader& reader, const Order& order, Record& record) : reader_(reader), order_(order), record_(record) {}

  void run() {
    for (;;) {
      const std::size_t stripe = next_++;
      if (stripe >= record_.stripes.size() || failed_) return;
      if (const auto encoded = encode_stripe(stripe); !encoded) fail(encoded.error());
    }
  }

  base::Status outcome() const {
    if (failed_) return base::fail(why_);
    return {};
  }

  void fail(const base::Error& why) {
    const std::lock_guard lock(mutex_);
    if (!failed_) why_ = why;
    failed_ = true;
  }

 private:
  base::Status encode_stripe(std::size_t number) {
    StripeParity& stripe = record_.stripes[number];
    std::vector<Source> sources;
    for (const StripeBlock& block : stripe.blocks) {
      const Member& member = order_.members[block.position];
      sources.push_back({name_of(block.position, number), &member.address, &member.blocks[number]});
    }
    PERDURE_TRY(stripe.parity.hash, combine(reader_, sources, stripe.memory.span(), Start::empty, record_.progress));
    return {};
  }

  std::string name_of(unsigned position, std::size_t stripe) const {
    return "block " + std::to_string(stripe) + " of member " + std::to_string(position) + " of " + id_text(record_.id);
  }

  Reader& reader_;
  const Order& order_;
  Record& record_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  base::Error why_;
};

}  // namespace

base::Status encode_order(Reader& reader, const Order& order, Record& record, unsigned lanes) {
  Lanes work(reader, order, record);
  os::Threads helpers;
  for (std::size_t i = 1; i < std::min<std::size_t>(lanes, record.stripes.size()); ++i) {
    const auto begun = helpers.start(
        "encoder", [&work] { work.run(); },
        [&work](const base::Error& why) {
          work.fail(why);
          return false;
        });
    if (!begun) break;  // the others have to do
  }
  const base::Status ran = base::caught("encoder", [&work]() -> base::Status {
    work.run();
    return {};
  });
  if (!ran) work.fail(ran.error());
  helpers.join();  // waits for them
  return work.outcome();
}

}  // namespace perdure::parity
