#include "parity/parity_table.hpp"

#include <algorithm>
#include <cstring>

#include "parity/order_codec.hpp"

namespace perdure::parity {
namespace {

Bytes key_of(ConstByteSpan id) { return {id.begin(), id.end()}; }

tl::unexpected<base::Error> not_there(ConstByteSpan id, const char* what) {
  return base::fail(PERDURE_NOT_FOUND, id_text(id), what);
}

std::uint64_t in_granules(std::uint64_t bytes) { return base::round_up(bytes, Pool::kGranule); }

}  // namespace

base::Result<ParityTable::Accepted> ParityTable::accept(const Order& order) {
  PERDURE_CHECK(check_order(order));
  const base::Hash128 content = content_of(order);
  const std::lock_guard lock(mutex_);
  if (const auto it = entries_.find(order.id); it != entries_.end()) {
    const auto* known = std::get_if<RecordPointer>(&it->second);
    if (known == nullptr) return base::fail(PERDURE_EXISTS, id_text(order.id), "it is allocated memory");
    if ((*known)->stage != Stage::failed && (*known)->content != content)
      return base::fail(PERDURE_EXISTS, id_text(order.id), "it was ordered with other content",
                        "drop it first, or choose another id");
    if ((*known)->stage != Stage::failed) return Accepted{*known, false};
  } else if (entries_.size() >= kMaxRecords) {
    return base::fail(PERDURE_NO_SPACE, id_text(order.id), "the server keeps no more than 65536 ids");
  }
  auto record = std::make_shared<Record>();
  record->id = order.id;
  record->content = content;
  PERDURE_CHECK(take_room(*record, order));
  entries_[order.id] = record;
  return Accepted{record, true};
}

base::Status ParityTable::take_room(Record& record, const Order& order) {
  record.stripes = stripes_of(order);
  std::uint64_t wanted = in_granules(order.note.size());
  for (const StripeParity& stripe : record.stripes) {
    wanted += in_granules(stripe.parity.bytes);
    for (const StripeBlock& block : stripe.blocks) record.bytes += block.bytes;
  }
  if (wanted > pool_->room().free) return no_room_for(order.id, wanted);
  for (StripeParity& stripe : record.stripes) {
    auto memory = pool_->take(stripe.parity.bytes);
    if (!memory) return no_room_for(order.id, wanted);
    stripe.memory = std::move(*memory);
  }
  auto note = pool_->take(order.note.size());
  if (!note) return no_room_for(order.id, wanted);
  record.note = std::move(*note);
  if (!order.note.empty()) std::memcpy(record.note.span().data(), order.note.data(), order.note.size());
  return {};
}

tl::unexpected<base::Error> ParityTable::no_room_for(ConstByteSpan id, std::uint64_t wanted) const {
  const Pool::Room room = pool_->room();
  std::string cause = "the pool is full: " + std::to_string(wanted) + " bytes are needed, " +
                      std::to_string(room.free) + " of " + std::to_string(room.bytes) + " are free, ";
  cause += wanted > room.free ? std::to_string(wanted - room.free) + " are missing"
                              : "but in pieces of which the largest has " + std::to_string(room.largest);
  return base::fail(PERDURE_NO_SPACE, id_text(id), std::move(cause),
                    "keep fewer versions, or start perdure-parityd with a larger --pool", true);
}

void ParityTable::begin(const RecordPointer& record) {
  const std::lock_guard lock(mutex_);
  record->stage = Stage::under_way;
}

void ParityTable::finish(const RecordPointer& record, const base::Status& outcome) {
  const std::lock_guard lock(mutex_);
  record->stage = outcome ? Stage::done : Stage::failed;
  if (outcome) return;
  record->why = outcome.error();
  for (StripeParity& stripe : record->stripes) stripe = StripeParity{};
  record->note = Pool::Piece{};
}

Standing ParityTable::standing_of(const Record& record) const {
  return {record.stage, record.progress.pulled, record.bytes, record.why};
}

Standing ParityTable::standing(ConstByteSpan id) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key_of(id));
  const auto* record = it == entries_.end() ? nullptr : std::get_if<RecordPointer>(&it->second);
  return record == nullptr ? Standing{} : standing_of(**record);
}

base::Result<RecordPointer> ParityTable::done(ConstByteSpan id) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key_of(id));
  const auto* record = it == entries_.end() ? nullptr : std::get_if<RecordPointer>(&it->second);
  if (record == nullptr) return not_there(id, "this server has no such order");
  if ((*record)->stage != Stage::done) return not_there(id, "its parities are not complete");
  return *record;
}

base::Result<Kept> ParityTable::kept(ConstByteSpan id) const {
  PERDURE_TRY(const RecordPointer record, done(id));
  Kept kept;
  const ConstByteSpan note = record->note.span();
  kept.note.assign(note.begin(), note.end());
  for (const StripeParity& stripe : record->stripes) kept.parities.push_back(stripe.parity);
  return kept;
}

base::Result<AreaPointer> ParityTable::existing_area(ConstByteSpan id, std::uint64_t bytes) const {
  const auto it = entries_.find(key_of(id));
  if (it == entries_.end() && entries_.size() >= kMaxRecords)
    return base::fail(PERDURE_NO_SPACE, id_text(id), "the server keeps no more than 65536 ids");
  if (it == entries_.end()) return AreaPointer();
  const auto* known = std::get_if<AreaPointer>(&it->second);
  if (known != nullptr && (*known)->piece.bytes() == bytes) return *known;
  return base::fail(PERDURE_EXISTS, id_text(id), "the server has something else of this name");
}

base::Result<AreaPointer> ParityTable::allocate(ConstByteSpan id, std::uint64_t bytes, const Expose& expose) {
  if (id.empty() || bytes == 0 || bytes > (std::uint64_t{1} << 59U))
    return base::fail(PERDURE_INVALID_ARGUMENT, "allocation", "it has no id, or no size that could be");
  std::unique_lock lock(mutex_);
  PERDURE_TRY(AreaPointer known, existing_area(id, bytes));
  if (known) return known;
  auto piece = pool_->take(bytes);
  if (!piece) return no_room_for(id, in_granules(bytes));
  lock.unlock();  // filling it takes a while
  std::memset(piece->span().data(), 0, bytes);
  PERDURE_TRY(auto exposed, expose(piece->span()));
  const auto area = std::make_shared<const Area>(Area{key_of(id), std::move(*piece), std::move(exposed)});
  lock.lock();
  PERDURE_TRY(known, existing_area(id, bytes));
  if (known) return known;  // another thread was faster
  entries_[area->id] = area;
  return area;
}

base::Result<AreaPointer> ParityTable::area(ConstByteSpan id) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key_of(id));
  const auto* area = it == entries_.end() ? nullptr : std::get_if<AreaPointer>(&it->second);
  if (area == nullptr) return not_there(id, "this server has no such memory");
  return *area;
}

AreaPointer ParityTable::drop(ConstByteSpan id) {
  std::map<Bytes, Entry>::node_type dropped;  // ends after the lock
  const std::lock_guard lock(mutex_);
  dropped = entries_.extract(key_of(id));
  if (dropped.empty()) return {};
  if (const auto* area = std::get_if<AreaPointer>(&dropped.mapped())) return *area;
  std::get<RecordPointer>(dropped.mapped())->progress.given_up = true;
  return {};
}

void ParityTable::give_up_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : entries_)
    if (const auto* record = std::get_if<RecordPointer>(&entry)) (*record)->progress.given_up = true;
}

std::vector<Listed> ParityTable::list(ConstByteSpan prefix, ConstByteSpan after) const {
  const Bytes begin = key_of(prefix);
  std::vector<Listed> page;
  const std::lock_guard lock(mutex_);
  auto it = after.empty() ? entries_.lower_bound(begin) : entries_.upper_bound(key_of(after));
  for (; it != entries_.end() && page.size() < kMaxPage; ++it) {
    if (it->first < begin) continue;
    if (!std::equal(begin.begin(), begin.end(), it->first.begin(),
                    it->first.begin() + static_cast<std::ptrdiff_t>(std::min(begin.size(), it->first.size()))))
      break;
    Listed line{it->first, true, Stage::done, 0};
    if (const auto* record = std::get_if<RecordPointer>(&it->second)) {
      line.memory = false;
      line.stage = (*record)->stage;
      line.bytes = (*record)->note.bytes();
      for (const StripeParity& stripe : (*record)->stripes) line.bytes += stripe.memory.bytes();
    } else {
      line.bytes = std::get<AreaPointer>(it->second)->piece.bytes();
    }
    page.push_back(std::move(line));
  }
  return page;
}

Inventory ParityTable::inventory() const {
  const Pool::Room room = pool_->room();
  Inventory inventory;
  inventory.pool_bytes = room.bytes;
  inventory.free_bytes = room.free;
  inventory.largest_free_bytes = room.largest;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    const auto* record = std::get_if<RecordPointer>(&entry);
    if (record == nullptr) {
      ++inventory.memories;
      continue;
    }
    ++inventory.orders;
    inventory.under_way += (*record)->stage == Stage::ordered || (*record)->stage == Stage::under_way;
  }
  return inventory;
}

}  // namespace perdure::parity
