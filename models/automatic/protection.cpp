#include "automatic/protection.hpp"

#include <algorithm>
#include <fstream>
#include <new>

#include "automatic/failure.hpp"
#include "track/place_codec.hpp"

namespace perdure::automatic {
namespace {

using track::BoxSet;
using track::Piece;
using track::Tracker;

std::uint64_t bytes_of(std::span<const SavedBox> boxes) {
  std::uint64_t sum = 0;
  for (const SavedBox& box : boxes) sum += box.box.elements() * box.set->data.element_bytes;
  return sum;
}

}  // namespace

Protection::Protection(std::vector<StoredSet> sets, std::unique_ptr<CheckpointStore> store, Policy policy, Tell tell,
                       bool reports)
    : sets_(std::move(sets)),
      store_(std::move(store), policy),
      policy_(std::move(policy)),
      tell_(std::move(tell)),
      reports_(reports),
      choice_(policy_.learns, policy_.before, policy_.only) {
  declare();
  resume();
  tracker_.initial_phase_done();
  if (policy_.on_signals) signals_.emplace();
}

void Protection::declare() {
  for (const auto& set : sets_)
    if (const auto id = tracker_.declare(set.data); !id)
      throw Failure(PERDURE_INVALID_ARGUMENT, "data set '" + set.data.name + "': " + id.error());
  for (const std::string& name : policy_.only)
    if (std::none_of(sets_.begin(), sets_.end(), [&](const auto& set) { return set.data.name == name; }))
      throw Failure(PERDURE_INVALID_ARGUMENT, "the policy has a data set '" + name + "', which there is not");
}

std::uint64_t Protection::state_bytes() const {
  std::uint64_t sum = 0;
  for (const StoredSet& set : sets_) sum += set.bytes();
  return sum;
}

// ---- a restart

void Protection::resume() {
  while (const auto bytes = store_.newest())
    if (resume_from(*bytes)) return;
}

// Returns false if the checkpoint was damaged; there may be another one.
bool Protection::resume_from(const std::vector<std::byte>& bytes) {
  auto place = track::decode_place(bytes);
  if (!place) throw Failure(PERDURE_MISMATCH, checkpoint() + ": " + place.error());
  if (place->sets != tracker_.sets())
    throw Failure(PERDURE_MISMATCH,
                  checkpoint() + " was made with other data sets (" + std::to_string(place->sets.size()) + ", now " +
                      std::to_string(tracker_.sets().size()) +
                      "): this is another program, or another mesh; run the one that made it, or give this one "
                      "another name");
  if (!store_.restore(boxes_of(place->saved))) {
    spoilt_.resize(place->saved.size());
    for (std::size_t set = 0; set < spoilt_.size(); ++set)
      for (const Box& box : place->saved[set].boxes()) spoilt_[set].add(box);
    return false;
  }
  check_spoilt(*place);
  goes_on_at_ = place->loop;
  tracker_.resume(std::move(*place));
  restarted_ = true;
  return true;
}

// Memory that no loop had written by then must hold the program's own values.
void Protection::check_spoilt(const track::Place& place) const {
  for (std::size_t set = 0; set < spoilt_.size(); ++set) {
    BoxSet rest = spoilt_[set];
    for (const Box& box : place.written[set].boxes()) rest.remove(box);
    if (!rest.empty())
      throw Failure(PERDURE_CORRUPT, checkpoint() +
                                         ": a later version was damaged, and has filled data that this one needs as "
                                         "the program makes it: start the program again");
  }
}

// If sets moved during the replay, their content lies where other sets are now.
void Protection::arrive() {
  if (!stale_) return;
  if (!store_.restore(boxes_of(tracker_.place().saved)))
    throw Failure(PERDURE_CORRUPT, checkpoint() + " was damaged while it was restored: start the program again");
  stale_ = false;
}

std::vector<SavedBox> Protection::boxes_of(const std::vector<BoxSet>& saved) const {
  std::vector<SavedBox> boxes;
  for (std::size_t set = 0; set < saved.size(); ++set)
    for (const Box& box : saved[set].boxes()) {
      boxes.push_back({&sets_[set], boxes.size(), box, {}});
      for (const Part& owned : sets_[set].owned)
        if (Part part = part_within(owned, box); !part.box.empty()) boxes.back().parts.push_back(part);
    }
  return boxes;
}

void Protection::moved(track::SetId set, std::vector<Part> owned) {
  sets_[set].owned = std::move(owned);
  stale_ = stale_ || knows_answer();
}

// ---- loops

bool Protection::loop(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) {
  store_.loop(id, name);
  const bool running = tracker_.phase() == Tracker::Phase::running;
  const bool region = tracker_.phase() == Tracker::Phase::region;
  if (running || region) {
    ++ran_;
    learn(id, name, accesses, between);
    wanted_ = wanted_ || (policy_.every_loops > 0 && ran_ % policy_.every_loops == 0);
  }
  if (running && wanted_ && has_all() && choice_.is_place(name, between)) {
    wanted_ = false;
    tracker_.begin_checkpoint();
  }
  // Elements that are undecided when the next checkpoint is due are saved as they are.
  if (region && (++open_.loops > policy_.decides || (wanted_ && open_.loops > choice_.step()))) tracker_.end_region();
  const track::Decision& decision = tracker_.loop(id, accesses);
  if (!decision.refused.empty()) refused(decision, name);
  if (decision.restore) arrive();
  if (decision.opens) opens(name);
  for (std::size_t i = 0; i < decision.save.size(); ++i) put_aside(decision.save[i], i < decision.read);
  if (!decision.spoils.empty()) give_up(decision.spoils);
  if (decision.closes) closes();
  return decision.run;
}

void Protection::learn(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) {
  choice_.loop(tracker_, id, name, accesses, between, wanted_ && has_all());
  if (choice_.news()) tell_report();
}

// An older checkpoint may have the missing elements: the next start uses that one.
void Protection::refused(const track::Decision& decision, std::string_view loop) {
  const std::string why = checkpoint() + ": " + decision.refused + " (loop '" + std::string(loop) + "')";
  if (!decision.lacks) throw Failure(PERDURE_MISMATCH, why);
  store_.retire_restored();
  throw Failure(PERDURE_INCOMPLETE, why + "; it was given up: start the program again, from the one before");
}

void Protection::ended() const {
  if (!knows_answer()) return;
  throw Failure(PERDURE_MISMATCH,
                checkpoint() + ": the program ended before loop " + std::to_string(goes_on_at_) +
                    ", from which it was to go on: this is another program, or other input; run the one that "
                    "made it, or give this one another name");
}

void Protection::answer(std::span<std::byte> values) {
  answered_ = true;
  if (!tracker_.answer(values)) {
    const auto& refused = tracker_.loop(0, {}).refused;  // repeats the refusal
    throw Failure(PERDURE_MISMATCH, checkpoint() + ": " + refused);
  }
}

std::optional<std::vector<std::byte>> Protection::fast_forward(std::span<const std::byte> payload) {
  if (answered_ && !forwarded_)
    throw Failure(PERDURE_INVALID_ARGUMENT,
                  checkpoint() +
                      ": values were given before the first fast forward, and a restart that begins there "
                      "would lack them: go forward first");
  forwarded_ = true;
  auto there = tracker_.fast_forward(payload);
  if (tracker_.phase() == Tracker::Phase::refused)
    throw Failure(PERDURE_MISMATCH, checkpoint() + ": " + tracker_.loop(0, {}).refused);
  return there;
}

bool Protection::wants_checkpoint() {
  if (signals_ && (signals_->checkpoint_asked() || signals_->end_asked())) return true;
  const bool due = policy_.every_s > 0 && Clock::now() - wanted_at_ >= std::chrono::duration<double>(policy_.every_s);
  if (due) wanted_at_ = Clock::now();
  return due;
}

track::Report Protection::report() const {
  track::Report report = choice_.report(tracker_);
  report.name = policy_.name;
  report.state_bytes = state_bytes();
  return report;
}

void Protection::tell_report() const {
  if (policy_.report.empty() || !reports_) return;
  std::ofstream file(policy_.report, std::ios::binary);
  file << track::to_json(report());
  file.close();
  if (file.fail()) tell_("the report of places cannot be written to " + policy_.report);
}

// A new checkpoint must not inherit missing elements. Elements that no loop touches for so long are not needed.
bool Protection::has_all() const {
  if (!restarted_ || ran_ > policy_.decides) return true;
  for (track::SetId set = 0; set < tracker_.sets().size(); ++set)
    if (!tracker_.missing(set).empty()) return false;
  return true;
}

// ---- a checkpoint

// A list of data sets or a learnt prediction is saved at once. Both are checked until the region ends.
void Protection::opens(std::string_view name) {
  const auto began = Clock::now();
  auto memory = std::move(open_.memory);
  memory.clear();
  open_ = {};
  open_.memory = std::move(memory);
  open_.now = {std::string(name), tracker_.place().loop, 0, state_bytes(), 0, false};
  track::Place place = tracker_.place();
  if (!policy_.only.empty()) {
    for (BoxSet& saved : place.saved) saved.clear();  // the tracker now starts to say what it would save
    for (std::size_t set = 0; set < place.sets.size(); ++set)
      if (std::find(policy_.only.begin(), policy_.only.end(), place.sets[set].name) != policy_.only.end())
        place.saved[set] = place.written[set];
  } else if (const auto* needed = policy_.foresees ? choice_.foreseen(tracker_, place.written) : nullptr) {
    place.saved = *needed;
  } else {
    return;
  }
  for (track::SetId set = 0; set < place.saved.size(); ++set)
    for (const Box& box : tracker_.missing(set).boxes()) place.saved[set].remove(box);
  open_.now.foreseen = true;
  open_.foreseen = place.saved;
  write(place, boxes_of(place.saved));
  open_.blocking += Clock::now() - began;
}

// Copies elements as they were when the checkpoint began; no loop has changed them yet. A foreseen checkpoint may lack
// elements that no loop has read, because a restart refuses to read those.
void Protection::put_aside(const Piece& piece, bool read) {
  const StoredSet& set = sets_[piece.set];
  if (open_.now.foreseen) {
    if (!read || open_.foreseen[piece.set].covers(piece.box)) return;
    open_.surprised = true;
    if (policy_.only.empty()) return;
    store_.retire_written();
    throw Failure(PERDURE_INVALID_ARGUMENT,
                  "the checkpoint's list of data sets does not have all that is needed: behind loop '" +
                      open_.now.before + "' " + piece.box.text() + " of data set '" + set.data.name +
                      "' is read before it is written");
  }
  const auto began = Clock::now();
  for (const Part& owned : set.owned) {
    const Part part = part_within(owned, piece.box);
    if (part.box.empty()) continue;
    auto& memory = open_.memory;
    try {  // the run goes on, and other ranks know nothing of this
      const std::size_t offset = memory.size();
      memory.resize(offset + part.box.elements() * set.data.element_bytes);
      open_.aside.push_back({piece.set, piece.box, part.box, offset});
      pack(part, set.data.element_bytes, set.x_first, memory.data() + offset);
    } catch (const std::bad_alloc&) {
      open_.lost = true;
    }
  }
  open_.blocking += Clock::now() - began;
}

// The place's boxes are joined; each contains whole pieces.
std::vector<SavedBox> Protection::boxes_aside(const std::vector<BoxSet>& saved) {
  std::vector<SavedBox> boxes;
  for (track::SetId id = 0; id < saved.size(); ++id)
    for (const Box& box : saved[id].boxes()) {
      const StoredSet& set = sets_[id];
      boxes.push_back({&set, boxes.size(), box, {}});
      for (const auto& one : open_.aside) {
        if (one.set != id || !box.contains(one.box)) continue;
        const Part part{one.own, nullptr, {}};
        boxes.back().parts.push_back(
            packed_part(part, set.data.element_bytes, set.x_first, open_.memory.data() + one.offset));
      }
    }
  return boxes;
}

void Protection::closes() {
  const auto began = Clock::now();
  if (open_.surprised) return give_up("loops behind '" + open_.now.before + "' need other data than they did before");
  if (!open_.now.foreseen) write(tracker_.place(), boxes_aside(tracker_.place().saved));
  open_.now.blocking_s = std::chrono::duration<double>(open_.blocking + (Clock::now() - began)).count();
  if (!open_.failed) taken_.push_back(open_.now);
  choice_.made();
}

void Protection::write(const track::Place& place, std::span<const SavedBox> boxes) {
  open_.now.bytes = bytes_of(boxes);
  std::string why;
  if (open_.lost) why = "this rank has no memory to put aside what is needed";
  if (place.answers.bytes.size() > track::kMostAnswerBytes)
    why = "the values that were given so far are more than a checkpoint can have; fast forward now and then";
  const auto done = why.empty() ? store_.write(track::encode(place), boxes) : store_.refuse(why);
  open_.failed = !done;
  if (open_.failed) tell_("no checkpoint: " + done.error());
  if (signals_ && !open_.failed) end_if_asked();
}

// The signal may have reached one rank only, which then asked the others for a checkpoint.
void Protection::end_if_asked() {
  if (!store_.meet("the end", signals_->end_asked())) return;
  if (const auto done = store_.finish(); !done) tell_("the last checkpoint is not in the store: " + done.error());
  signals_->end();
}

void Protection::give_up(const std::string& why) {
  if (open_.now.foreseen) store_.retire_written();
  tell_("no checkpoint: " + why);
  choice_.learn_anew();
}

}  // namespace perdure::automatic
