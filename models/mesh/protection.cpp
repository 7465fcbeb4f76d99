#include "mesh/protection.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "mesh/perdure_store.hpp"
#include "mesh/rows.hpp"
#include "track/place_codec.hpp"

namespace perdure::mesh {
namespace {

using track::BoxSet;
using track::Piece;
using track::Tracker;

std::uint64_t bytes_of(std::span<const SavedBox> boxes) {
  std::uint64_t sum = 0;
  for (const SavedBox& box : boxes) sum += box.box.elements() * box.set->element_bytes();
  return sum;
}

}  // namespace

Protection::Protection(Mesh& mesh, std::unique_ptr<CheckpointStore> store, Policy policy, Tell tell)
    : mesh_(mesh),
      store_(std::move(store)),
      policy_(std::move(policy)),
      tell_(std::move(tell)),
      learnt_(policy_.learns) {
  for (const auto& set : mesh_.datasets())
    if (const auto id = tracker_.declare({set->name(), set->whole(), set->element_bytes(), set->shape().scratch}); !id)
      throw std::runtime_error("mesh: data set '" + set->name() + "': " + id.error());
  for (const std::string& name : policy_.only)
    if (std::none_of(mesh_.datasets().begin(), mesh_.datasets().end(),
                     [&](const auto& set) { return set->name() == name; }))
      throw std::runtime_error("mesh: the policy has a data set '" + name + "', which there is not");
  resume();
  tracker_.initial_phase_done();
}

// ---- a restart

void Protection::resume() {
  while (const auto bytes = store_->newest())
    if (resume_from(*bytes)) return;
}

// False: it was damaged, and there may be another one.
bool Protection::resume_from(const std::vector<std::byte>& bytes) {
  auto place = track::decode_place(bytes);
  if (!place) throw std::runtime_error("mesh: checkpoint '" + policy_.name + "': " + place.error());
  if (place->sets != tracker_.sets())
    throw std::runtime_error(
        "mesh: checkpoint '" + policy_.name + "' was made with other data sets (" + std::to_string(place->sets.size()) +
        ", now " + std::to_string(tracker_.sets().size()) +
        "): this is another program, or another mesh; run the one that made it, or give this one another name");
  if (!store_->restore(boxes_of(place->saved))) return false;
  for (const auto& set : mesh_.datasets()) set->ghosts_are_stale();
  goes_on_at_ = place->loop;
  tracker_.resume(std::move(*place));
  restarted_ = true;
  return true;
}

SavedBox Protection::saved_box(const Dataset& set, std::size_t number, const Box& box) const {
  SavedBox saved{&set, number, box, {}};
  const Box own = intersection(box, set.owned());
  if (own.empty()) return saved;
  SavedBox::Part part{own, set.address(own.begin), {}};
  for (unsigned d = 0; d < box.dimensions; ++d)
    part.strides[d] = set.stride(d) * static_cast<std::int64_t>(set.element_bytes());
  saved.parts.push_back(part);
  return saved;
}

std::vector<SavedBox> Protection::boxes_of(const std::vector<BoxSet>& saved) const {
  std::vector<SavedBox> boxes;
  for (std::size_t set = 0; set < saved.size(); ++set)
    for (const Box& box : saved[set].boxes()) boxes.push_back(saved_box(*mesh_.datasets()[set], boxes.size(), box));
  return boxes;
}

// ---- loops

bool Protection::loop(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) {
  const bool running = tracker_.phase() == Tracker::Phase::running;
  const bool region = tracker_.phase() == Tracker::Phase::region;
  if (running || region) {
    ++ran_;
    here_ = place_of(id);
    learn(here_, name, accesses, between);
    wanted_ = wanted_ || (policy_.every_loops > 0 && ran_ % policy_.every_loops == 0);
  }
  if (running && wanted_ && is_place(name, between)) {
    wanted_ = false;
    tracker_.begin_checkpoint();
  }
  if (region && ++region_loops_ > policy_.decides) tracker_.end_region();
  const track::Decision& decision = tracker_.loop(id, accesses);
  if (!decision.refused.empty()) refused(decision, name);
  if (decision.opens) opens(name);
  for (std::size_t i = 0; i < decision.save.size(); ++i) put_aside(decision.save[i], i < decision.read);
  if (!decision.spoils.empty()) give_up(decision.spoils);
  if (decision.closes) closes();
  return decision.run;
}

// What it lacks an older one may have: the next start takes that.
void Protection::refused(const track::Decision& decision, std::string_view loop) {
  const std::string why =
      "mesh: checkpoint '" + policy_.name + "': " + decision.refused + " (loop '" + std::string(loop) + "')";
  if (!decision.lacks) throw std::runtime_error(why);
  store_->retire_restored();
  throw std::runtime_error(why + "; it was given up: start the program again, from the one before");
}

void Protection::ended() const {
  if (!knows_answer()) return;
  throw std::runtime_error("mesh: checkpoint '" + policy_.name + "': the program ended before loop " +
                           std::to_string(goes_on_at_) +
                           ", from which it was to go on: this is another program, or other input; run the one that "
                           "made it, or give this one another name");
}

void Protection::answer(std::span<std::byte> values) {
  if (!tracker_.answer(values)) {
    const auto& refused = tracker_.loop(0, {}).refused;  // says the same again
    throw std::runtime_error("mesh: checkpoint '" + policy_.name + "': " + refused);
  }
}

std::optional<std::vector<std::byte>> Protection::fast_forward(std::span<const std::byte> payload) {
  auto there = tracker_.fast_forward(payload);
  if (tracker_.phase() == Tracker::Phase::refused)
    throw std::runtime_error("mesh: checkpoint '" + policy_.name + "': " + tracker_.loop(0, {}).refused);
  return there;
}

bool Protection::wants_checkpoint() {
  const bool due = policy_.every_s > 0 && Clock::now() - wanted_at_ >= std::chrono::duration<double>(policy_.every_s);
  if (due) wanted_at_ = Clock::now();
  return due;
}

// ---- where

track::LoopId Protection::place_of(track::LoopId id) {
  constexpr std::uint64_t kMostInARow = 64;
  in_a_row_ = id == last_ ? std::min(in_a_row_ + 1, kMostInARow) : 0;
  last_ = id;
  return id + in_a_row_ * 0x9e3779b97f4a7c15ULL;
}

// Whoever waits for a checkpoint takes what few loops say, until all are there. A whole stretch is believed where it
// has time steps twice.
void Protection::learn(track::LoopId place, std::string_view name, std::span<const track::Access> accesses,
                       bool between) {
  waits_ = wanted_ && has_all() ? waits_ + 1 : 0;
  if (!between) never_.insert(place);
  const bool gone = chosen_ && learnt_.full() && waits_ > learnt_.size();  // the program does something else now
  if (gone) learn_anew();
  if (learnt_.full()) return;
  if (names_.count(place) == 0) names_.emplace(place, name);
  learnt_.record(place, accesses);
  constexpr std::size_t kFew = 64;
  const std::size_t size = learnt_.size();
  if (learnt_.full() || (wanted_ && size >= kFew && (size & (size - 1)) == 0)) choose();
  none_ = learnt_.full() && !chosen_;
  if (learnt_.full()) tell_report();
  believed_ = learnt_.full() && learnt_.repeats() >= size / 4;
}

void Protection::learn_anew() {
  chosen_.reset();
  needed_of_.reset();
  learnt_.clear();
  none_ = believed_ = false;
  waits_ = 0;
}

std::vector<BoxSet> Protection::written() const {
  std::vector<BoxSet> written;
  for (track::SetId set = 0; set < tracker_.sets().size(); ++set) written.push_back(tracker_.written(set));
  return written;
}

bool Protection::is_possible(const track::Candidate& one) const {
  const bool allowed = policy_.before.empty() || names_.at(one.loop) == policy_.before;
  return allowed && never_.count(one.loop) == 0 && one.most != track::kNoPlace;
}

void Protection::choose() {
  auto candidates = learnt_.candidates(tracker_.sets(), written());
  std::erase_if(candidates, [this](const track::Candidate& one) { return !is_possible(one); });
  chosen_ = track::cheapest(candidates, learnt_.size());
}

// Of what was written by now: more than when the place was chosen, as long as the run is young.
const std::optional<std::vector<BoxSet>>& Protection::needed(const std::vector<BoxSet>& written) {
  if (needed_of_ != written) {
    needed_ = learnt_.saved_before(*chosen_, tracker_.sets(), written);
    needed_of_ = written;
  }
  return needed_;
}

// Where no loop comes again often enough it is any that the policy allows.
bool Protection::is_place(std::string_view name, bool between) const {
  if (!between || !has_all()) return false;
  if (chosen_) return *chosen_ == here_;
  if (!policy_.before.empty()) return name == policy_.before;
  return none_;
}

track::Report Protection::report() const {
  track::Report report;
  report.name = policy_.name;
  for (const auto& set : mesh_.datasets()) report.state_bytes += set->whole().elements() * set->element_bytes();
  const auto written = this->written();
  for (const auto& one : learnt_.candidates(tracker_.sets(), written))
    report.loops.push_back(
        {names_.at(one.loop), one.first, one.times, one.least, one.most, is_possible(one), one.loop == chosen_});
  if (chosen_)
    if (const auto saved = learnt_.saved_before(*chosen_, tracker_.sets(), written))
      report.sets = track::explained(tracker_.sets(), written, *saved);
  const auto costs = learnt_.costs(tracker_.sets(), written);
  const std::size_t step = learnt_.repeats(), begin = costs.size() - 2 * step;
  for (std::size_t i = begin; i < begin + step; ++i)
    report.step.push_back({names_.at(learnt_.loop(i)), costs[i] ? std::optional(costs[i]->bytes) : std::nullopt});
  return report;
}

void Protection::tell_report() const {
  if (policy_.report.empty() || mesh_.ranks().rank() != 0) return;
  std::ofstream file(policy_.report, std::ios::binary);
  file << track::to_json(report());
  file.close();
  if (file.fail()) tell_("the report of places cannot be written to " + policy_.report);
}

// A checkpoint must not inherit that it lacks something; what no loop touches for so long will not be missed.
bool Protection::has_all() const {
  if (!restarted_ || ran_ > policy_.decides) return true;
  for (track::SetId set = 0; set < tracker_.sets().size(); ++set)
    if (!tracker_.missing(set).empty()) return false;
  return true;
}

// ---- a checkpoint

// A list is taken as it is, and what was learnt too: both are watched until the region ends.
void Protection::opens(std::string_view name) {
  const auto began = Clock::now();
  region_loops_ = 0;
  surprised_ = failed_ = false;
  blocking_ = {};
  aside_.clear();
  memory_.clear();
  now_ = {std::string(name), tracker_.place().loop, 0, 0, 0, false};
  for (const auto& set : mesh_.datasets()) now_.state_bytes += set->whole().elements() * set->element_bytes();
  track::Place place = tracker_.place();
  if (!policy_.only.empty()) {
    for (BoxSet& saved : place.saved) saved.clear();  // the tracker has begun to say what it would save
    for (std::size_t set = 0; set < place.sets.size(); ++set)
      if (std::find(policy_.only.begin(), policy_.only.end(), place.sets[set].name) != policy_.only.end())
        place.saved[set] = place.written[set];
  } else if (policy_.foresees && believed_ && chosen_ && here_ == *chosen_ && needed(place.written)) {
    place.saved = *needed_;
  } else {
    return;
  }
  for (track::SetId set = 0; set < place.saved.size(); ++set)
    for (const Box& box : tracker_.missing(set).boxes()) place.saved[set].remove(box);
  now_.foreseen = true;
  foreseen_ = place.saved;
  write(place, boxes_of(place.saved));
  blocking_ += Clock::now() - began;
}

// What is saved is copied as it was when the checkpoint began, which no loop has changed yet.
// Of what nobody has read a foreseen checkpoint need not have anything: a restart refuses to read it.
void Protection::put_aside(const Piece& piece, bool read) {
  const Dataset& set = *mesh_.datasets()[piece.set];
  if (now_.foreseen) {
    if (!read || foreseen_[piece.set].covers(piece.box)) return;
    surprised_ = true;
    if (policy_.only.empty()) return;
    store_->retire_written();
    throw std::runtime_error(
        "mesh: the checkpoint's list of data sets does not have all that is needed: behind loop '" + now_.before +
        "' " + piece.box.text() + " of data set '" + set.name() + "' is read before it is written");
  }
  const auto began = Clock::now();
  const Box own = intersection(piece.box, set.owned());
  aside_.push_back({piece.set, piece.box, own, memory_.size()});
  memory_.resize(memory_.size() + packed_bytes(set, own));
  pack(set, own, memory_.data() + aside_.back().offset);
  blocking_ += Clock::now() - began;
}

// Boxes of the place are joined ones; each has whole pieces.
std::vector<SavedBox> Protection::boxes_aside(const std::vector<BoxSet>& saved) {
  std::vector<SavedBox> boxes;
  for (track::SetId id = 0; id < saved.size(); ++id)
    for (const Box& box : saved[id].boxes()) {
      const Dataset& set = *mesh_.datasets()[id];
      boxes.push_back({&set, boxes.size(), box, {}});
      for (const Aside& one : aside_) {
        if (one.set != id || one.own.empty() || !box.contains(one.box)) continue;
        SavedBox::Part part{one.own, memory_.data() + one.offset, {}};
        auto stride = static_cast<std::int64_t>(set.element_bytes());
        for (unsigned d = 0; d < one.own.dimensions; ++d) {
          part.strides[d] = stride;
          stride *= one.own.end[d] - one.own.begin[d];
        }
        boxes.back().parts.push_back(part);
      }
    }
  return boxes;
}

void Protection::closes() {
  const auto began = Clock::now();
  if (surprised_) return give_up("loops behind '" + now_.before + "' need other data than they did before");
  if (!now_.foreseen) write(tracker_.place(), boxes_aside(tracker_.place().saved));
  now_.blocking_s = std::chrono::duration<double>(blocking_ + (Clock::now() - began)).count();
  if (!failed_) taken_.push_back(now_);
  if (none_) learn_anew();
}

void Protection::write(const track::Place& place, std::span<const SavedBox> boxes) {
  now_.bytes = bytes_of(boxes);
  const auto done = store_->write(track::encode(place), boxes);
  failed_ = !done;
  if (failed_) tell_("no checkpoint: " + done.error());
}

void Protection::give_up(const std::string& why) {
  if (now_.foreseen) store_->retire_written();
  tell_("no checkpoint: " + why);
  learn_anew();
}

Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy) {
  const bool first = mesh.ranks().rank() == 0;
  auto made =
      std::make_unique<Protection>(mesh, perdure_store(handle, policy.name), policy, [first](const std::string& said) {
        if (first) std::fprintf(stderr, "perdure: %s\n", said.c_str());
      });
  Protection& protection = *made;
  mesh.follow(std::move(made));
  return protection;
}

}  // namespace perdure::mesh
