#include "track/tracker.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace perdure::track {
namespace {

std::string number(std::uint64_t of) { return std::to_string(of); }

}  // namespace

tl::expected<SetId, std::string> Tracker::declare(DataSet set) {
  if (auto why = defect_of(set); !why.empty()) return tl::unexpected(std::move(why));
  if (std::any_of(sets_.begin(), sets_.end(), [&](const DataSet& other) { return other.name == set.name; }))
    return tl::unexpected("there are two data sets '" + set.name + "'");
  sets_.push_back(std::move(set));
  written_.emplace_back();
  undecided_.emplace_back();
  missing_.emplace_back();
  return static_cast<SetId>(sets_.size() - 1);
}

void Tracker::initial_phase_done() {
  if (phase_ == Phase::initial) phase_ = Phase::running;
  if (phase_ == Phase::again) phase_ = Phase::replay;
}

void Tracker::resume(Place place) {
  if (phase_ == Phase::refused) return;
  if (phase_ != Phase::initial && (phase_ != Phase::running || sequence_.size() > 0)) {
    (void)refuse("a run goes on from a checkpoint before its first loop, or not at all");
    return;
  }
  place_ = std::move(place);
  expected_ = LoopReplay(place_.before);
  if (!is_sequence(place_.before, place_.loop)) {
    (void)refuse("what the checkpoint says of its loops is no sequence of them");
    return;
  }
  if (place_.written.size() != place_.sets.size() || place_.saved.size() != place_.sets.size()) {
    (void)refuse("the checkpoint does not say of each data set what was written and saved of it");
    return;
  }
  phase_ = phase_ == Phase::initial ? Phase::again : Phase::replay;
}

bool Tracker::refuse(std::string why) {
  phase_ = Phase::refused;
  decision_ = {};
  decision_.refused = std::move(why);
  decision_.run = false;
  return false;
}

const Decision& Tracker::loop(LoopId id, std::span<const Access> accesses) {
  if (phase_ == Phase::refused || !is_within(accesses)) return decision_;
  decision_.save.clear();
  decision_.read = 0;
  decision_.spoils.clear();
  decision_.restore = decision_.opens = decision_.closes = false;
  decision_.run = true;
  if (phase_ == Phase::initial || phase_ == Phase::again) return decision_;
  if (phase_ == Phase::replay) replay(id);
  if (phase_ == Phase::replay || phase_ == Phase::refused || !is_there(accesses)) return decision_;
  if (wanted_ && (!at_ || *at_ == id)) open(id);
  if (phase_ == Phase::region) decide(accesses);
  for (const Access& access : accesses)
    if (access.does_write()) {
      written_[access.set].add(access.written);
      missing_[access.set].remove(access.written);
    }
  sequence_.append(id);
  return decision_;
}

bool Tracker::is_within(std::span<const Access> accesses) {
  const auto lies_in = [](const DataSet& set, const Box& box) {
    return box.dimensions == set.box.dimensions && set.box.contains(box);
  };
  for (const Access& access : accesses) {
    if (access.set >= sets_.size())
      return refuse("loop " + number(sequence_.size()) + " has a data set of number " + number(access.set) +
                    ", which nobody declared");
    const DataSet& set = sets_[access.set];
    const bool read = !access.does_read() || lies_in(set, access.read);
    if (read && (!access.does_write() || lies_in(set, access.written))) continue;
    return refuse("loop " + number(sequence_.size()) + (read ? " writes " : " reads ") +
                  (read ? access.written : access.read).text() + " of data set '" + set.name + "', which is " +
                  set.box.text());
  }
  return true;
}

// A checkpoint may lack needed elements if its region did not complete, or if it saved a foreseen list of elements.
bool Tracker::is_there(std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    if (!access.does_read() || !missing_[access.set].meets(access.read)) continue;
    (void)refuse("loop " + number(sequence_.size()) + " reads " + access.read.text() + " of data set '" +
                 sets_[access.set].name + "', of which the checkpoint that this run went on from does not have all");
    decision_.lacks = true;
    return false;
  }
  return true;
}

// Algorithm 2. Until the program has jumped to the place that its payload names, its loops were not recorded.
void Tracker::replay(LoopId id) {
  decision_.run = false;
  if (place_.payload && !payload_) return;
  const std::uint64_t at = sequence_.size();
  if (at == place_.loop) return arrive(id);
  if (expected_.next(sequence_) == id) {
    expected_.advance();
    return sequence_.append(id);
  }
  (void)refuse("loop " + number(at) + " of " + number(place_.loop) +
               " up to the checkpoint is another one than the run that made it had there");
}

void Tracker::arrive(LoopId id) {
  if (id != place_.id) {
    (void)refuse("the loop behind the checkpoint, number " + number(place_.loop) +
                 ", is another one than the run that made it had there");
    return;
  }
  if (const auto why = difference_in_sets(); !why.empty()) return (void)refuse(why);
  if (answers_ != place_.answers) {
    (void)refuse("of " + number(place_.answers.lengths.size()) + " answers up to the checkpoint only " +
                 number(answers_.lengths.size()) + " were asked for");
    return;
  }
  written_ = place_.written;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    missing_[i] = written_[i];
    for (const Box& box : place_.saved[i].boxes()) missing_[i].remove(box);
  }
  phase_ = Phase::running;
  decision_.restore = decision_.run = true;
}

std::string Tracker::difference_in_sets() const {
  for (std::size_t i = 0; i < std::max(sets_.size(), place_.sets.size()); ++i) {
    if (i >= place_.sets.size()) return "data set '" + sets_[i].name + "' is not in the checkpoint";
    if (i >= sets_.size()) return "data set '" + place_.sets[i].name + "' of the checkpoint is not declared";
    const DataSet &now = sets_[i], &then = place_.sets[i];
    if (now.name != then.name)
      return "data set " + number(i) + " is '" + now.name + "', and '" + then.name + "' in the checkpoint";
    if (now.box != then.box)
      return "data set '" + now.name + "' is " + now.box.text() + ", and " + then.box.text() + " in the checkpoint";
    if (now != then) return "data set '" + now.name + "' has other elements in the checkpoint, or is no scratch there";
  }
  return "";
}

bool Tracker::answer(std::span<std::byte> value) {
  if (phase_ == Phase::refused) return false;
  if (phase_ == Phase::initial || phase_ == Phase::again) return true;
  if (phase_ == Phase::replay) {
    if (place_.payload && !payload_)
      return refuse("an answer is asked for between the initial phase and the place that the program goes to");
    const std::size_t at = answers_.lengths.size();
    if (at >= place_.answers.lengths.size() || place_.answers.lengths[at] != value.size())
      return refuse("answer " + number(at) + " before loop " + number(sequence_.size()) +
                    " is another one than the run that made the checkpoint had there");
    const auto first = place_.answers.bytes.begin() + static_cast<std::ptrdiff_t>(answers_.bytes.size());
    std::copy_n(first, value.size(), value.begin());
  }
  answers_.bytes.insert(answers_.bytes.end(), value.begin(), value.end());
  answers_.lengths.push_back(static_cast<std::uint32_t>(value.size()));
  return true;
}

std::optional<std::vector<std::byte>> Tracker::fast_forward(std::span<const std::byte> payload) {
  if (phase_ == Phase::initial || phase_ == Phase::again || phase_ == Phase::refused) return std::nullopt;
  if (phase_ == Phase::replay && place_.payload && !payload_) {
    payload_ = place_.payload;
    return payload_;
  }
  if (phase_ == Phase::replay) {  // the run that made the checkpoint reached this before that place
    (void)refuse("the program can begin here, before loop " + number(sequence_.size()) + " of " + number(place_.loop) +
                 " up to the checkpoint, which the run that made it could not");
    return std::nullopt;
  }
  payload_.emplace(payload.begin(), payload.end());
  sequence_ = {};
  answers_ = {};
  return std::nullopt;
}

void Tracker::begin_checkpoint(std::optional<LoopId> at) {
  if (phase_ == Phase::region) return;
  wanted_ = true;
  ends_ = false;
  at_ = at;
}

// Algorithm 1, lines 11 to 14.
void Tracker::open(LoopId id) {
  wanted_ = false;
  phase_ = Phase::region;
  decision_.opens = true;
  place_ = {sequence_.size(), sequence_.stretches(), id, answers_, sets_, written_, {}, payload_};
  place_.saved.resize(sets_.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    undecided_[i] = written_[i];
    for (const Box& box : missing_[i].boxes()) undecided_[i].remove(box);
  }
}

// Scratch that later loops need would be missing after a restart.
void Tracker::save(SetId set, const Box& box) {
  if (!sets_[set].scratch) {
    place_.saved[set].add(box);
    return decision_.save.push_back({set, box});
  }
  if (decision_.spoils.empty())
    decision_.spoils = "data set '" + sets_[set].name + "' is scratch, and loop " + number(sequence_.size()) +
                       " reads " + box.text() + " of it, which was written before loop " + number(place_.loop);
}

// Algorithm 1, lines 15 to 26. An element that is first read is saved; one that is first written is not. All reads of a
// loop precede its writes.
void Tracker::decide(std::span<const Access> accesses) {
  for (const Access& access : accesses)
    if (access.does_read()) undecided_[access.set].extract(access.read, [&](const Box& box) { save(access.set, box); });
  decision_.read = decision_.save.size();
  for (const Access& access : accesses)
    if (access.does_write()) undecided_[access.set].remove(access.written);
  bool open = false;
  for (SetId set = 0; set < undecided_.size(); ++set) open = open || (!sets_[set].scratch && !undecided_[set].empty());
  const bool spoilt = !decision_.spoils.empty();
  if (open && !ends_ && !spoilt) return;
  if (spoilt) decision_.save.clear(), decision_.read = 0;
  for (SetId set = 0; set < undecided_.size(); ++set) {
    if (!spoilt && !sets_[set].scratch)
      for (const Box& box : undecided_[set].boxes()) save(set, box);
    undecided_[set].clear();
  }
  decision_.closes = !spoilt;
  phase_ = Phase::running;
}

}  // namespace perdure::track
