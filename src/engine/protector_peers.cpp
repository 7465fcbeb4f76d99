// What the positions of a group tell each other, one message after another, until all is said.
#include <algorithm>

#include "engine/protector.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kBlocksPerOffer = 256;

}  // namespace

std::optional<GroupMessage> Protector::next_message(const Work& work, const Told& told, std::size_t& blocks) const {
  GroupMessage message{work.encoding.id(), membership_->position, Keeps{}};
  const auto& group = work.encoding.group();
  if ((!work.here && !work.early) || others_go_first(work)) return std::nullopt;
  blocks = std::min(kBlocksPerOffer, work.offers.size() - told.offered);
  const auto first = work.offers.begin() + static_cast<std::ptrdiff_t>(told.offered);
  const auto last = first + static_cast<std::ptrdiff_t>(blocks);
  if (!told.announced) {
    message.body = Announce{group.scheme->name,    group.members, group.parities, group.number,
                            work.encoding.ranks(), work.pieces,   {first, last}};
    return message;
  }
  if (blocks != 0) {
    message.body = Offer{{first, last}};
    return message;
  }
  if (work.recorded && !told.keeps) return message;
  if (work.parity_kept && !told.parity_keeps) {
    message.position = membership_->group.members;
    return message;
  }
  if (work.reached && work.stored_here && !told.stored) {
    message.body = Stored{};
    return message;
  }
  return std::nullopt;
}

Protector::Job Protector::next_telling(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns) {
  for (unsigned position = 0; position < work->told.size(); ++position) {
    Told& told = work->told[position];
    if (position == membership_->position || told.busy) continue;
    std::size_t blocks = 0;
    auto message = next_message(*work, told, blocks);
    if (!message) continue;
    if (now_ns < told.retry_at_ns) {
      earliest(wake_at_ns, told.retry_at_ns);
      continue;
    }
    told.busy = true;
    return [this, link = membership_->link, work, position, message = std::move(*message), blocks] {
      tell(*link, work, position, message, blocks);
    };
  }
  return {};
}

// Said even if it failed in the meantime: that is then the next thing that the position hears.
void Protector::tell(GroupLink& link, const WorkPointer& work, unsigned position, const GroupMessage& message,
                     std::size_t blocks) {
  const base::Status heard = link.tell(position, engine::encode(message));
  {
    std::lock_guard guard(mutex_);
    Told& told = work->told[position];
    told.busy = false;
    if (!heard && passes(heard.error())) {
      told.retry_at_ns = os::monotonic_ns() + options_.retry_ns;
      if (std::holds_alternative<GivesUp>(message.body)) told.gave_up = false;
      if (heard.error().code != PERDURE_BUSY) let_flush(*work);
    } else if (!heard) {
      fail(work, heard.error());
    } else if (std::holds_alternative<Announce>(message.body)) {
      told.announced = true;
      told.offered += blocks;
    } else if (std::holds_alternative<Offer>(message.body)) {
      told.offered += blocks;
    } else if (std::holds_alternative<Keeps>(message.body)) {
      (message.position == work->told.size() ? told.parity_keeps : told.keeps) = true;
    } else if (std::holds_alternative<Stored>(message.body)) {
      told.stored = true;
    }
  }
  wake_.notify_all();
  if (!heard) changed_();
}

base::Status Protector::apply(Work& work, const GroupMessage& message) {
  const auto& group = work.encoding.group();
  const bool server = message.position == group.members && group.scheme->method == redundancy::Method::server;
  if (message.position >= group.members && !server)
    return base::fail(PERDURE_INVALID_ARGUMENT, message.id.text(), "it is from a position that is not in the group");
  if (const auto* announce = std::get_if<Announce>(&message.body)) {
    if (announce->scheme != group.scheme->name || announce->members != group.members ||
        announce->parities != group.parities || announce->group != group.number)
      return base::fail(PERDURE_MISMATCH, message.id.text(),
                        "position " + std::to_string(message.position) + " takes itself to be in another group",
                        "start all nodes with the same redundancy options");
    PERDURE_CHECK(work.encoding.announced(message.position, announce->pieces));
    for (const auto& block : announce->blocks) PERDURE_CHECK(work.encoding.offered(message.position, block));
  } else if (const auto* offer = std::get_if<Offer>(&message.body)) {
    for (const auto& block : offer->blocks) PERDURE_CHECK(work.encoding.offered(message.position, block));
  } else if (std::holds_alternative<Keeps>(message.body)) {
    work.encoding.keeps(message.position);
  } else if (std::holds_alternative<Stored>(message.body)) {
    work.stored_at.insert(message.position);
  }
  return {};
}

// Nothing: with this message work on it begins. With mutex_ held.
std::optional<base::Status> Protector::answer_to_unknown(const GroupMessage& message) const {
  {
    std::lock_guard core_guard(lock_);
    const auto* known = core_.find(message.id);
    if (known != nullptr && known->reached) return base::Status();  // said again; or it cannot matter any more
  }
  if (std::holds_alternative<Announce>(message.body)) return std::nullopt;
  // These come after an announcement: it is forgotten.
  if (std::holds_alternative<GivesUp>(message.body) || std::holds_alternative<Stored>(message.body))
    return base::Status();
  return base::fail(PERDURE_BUSY, message.id.text(), "nobody has announced it here", {}, true);
}

base::Status Protector::hear(base::ConstByteSpan bytes) {
  PERDURE_TRY(const GroupMessage message, decode_group_message(bytes));
  const GivesUp* gives_up = nullptr;
  {
    std::lock_guard guard(mutex_);
    if (!membership_ || membership_->epoch != message.id.epoch)
      return base::fail(PERDURE_BUSY, message.id.text(), "this node is in another launch of the job", {}, true);
    if (message.position == membership_->position)
      return base::fail(PERDURE_INVALID_ARGUMENT, message.id.text(), "it claims to be from this position");
    const bool known_here = works_.contains(message.id);
    if (!known_here)
      if (const auto answer = answer_to_unknown(message)) return *answer;
    const auto* announce = std::get_if<Announce>(&message.body);
    const WorkPointer work = find_or_make(message.id, announce == nullptr ? 0 : announce->ranks);
    const base::Status applied = apply(*work, message);
    if (!applied && !known_here) works_.erase(message.id);  // what is refused leaves no trace
    PERDURE_CHECK(applied);
    gives_up = std::get_if<GivesUp>(&message.body);
    if (gives_up != nullptr) {
      work->heard_failure = true;
      fail(work, {PERDURE_UNAVAILABLE, message.id.text(),
                  "position " + std::to_string(message.position) + " of the group gives it up: " + gives_up->why,
                  "see that node's reports", false});
    }
  }
  wake_.notify_all();
  if (gives_up != nullptr) changed_();
  return {};
}

}  // namespace perdure::engine
