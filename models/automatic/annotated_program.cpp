#include "automatic/annotated_program.hpp"

#include <algorithm>
#include <utility>

#include "automatic/failure.hpp"

namespace perdure::automatic {
namespace {

using Mode = track::Access::Mode;

[[noreturn]] void refuse(const std::string& object, const std::string& why, const std::string& remedy) {
  throw Failure(PERDURE_INVALID_ARGUMENT,
                object + ": " + why + (remedy.empty() ? "" : "; " + remedy) + " (invalid-argument)");
}

std::string called(const StoredSet& set) { return "data '" + set.data.name + "'"; }

void check_parts(const StoredSet& set, const std::vector<Part>& owned) {
  for (const Part& part : owned) {
    if (part.box.empty() || !set.data.box.contains(part.box))
      refuse(called(set), "box " + part.box.text() + " is empty, or not within " + set.data.box.text(), "");
    if (part.address == nullptr) refuse(called(set), "box " + part.box.text() + " has no address", "");
  }
}

bool same_boxes(const std::vector<Part>& one, const std::vector<Part>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Part& a, const Part& b) { return a.box == b.box; });
}

}  // namespace

track::SetId AnnotatedProgram::declare(StoredSet set) {
  if (protection_) refuse(called(set), "it is declared after the start", "declare all data before it");
  if (const std::string defect = defect_of_texts(set.data.name, set.unit, set.description); !defect.empty())
    refuse(called(set), defect, "");
  if (const std::string defect = track::defect_of(set.data); !defect.empty()) refuse(called(set), defect, "");
  for (const StoredSet& other : sets_)
    if (other.data.name == set.data.name) refuse(called(set), "there is one of that name", "give it another one");
  check_parts(set, set.owned);
  sets_.push_back(std::move(set));
  return static_cast<track::SetId>(sets_.size() - 1);
}

const StoredSet& AnnotatedProgram::set(track::SetId id) const {
  const auto& sets = protection_ ? protection_->sets() : sets_;
  if (id < sets.size()) return sets[id];
  refuse("data " + std::to_string(id), "there is none of that number", "take the number that its declaration gave");
}

void AnnotatedProgram::start(std::unique_ptr<CheckpointStore> store) {
  if (protection_) refuse("start", "it was called before", "call it once");
  protection_ = std::make_unique<Protection>(
      sets_, std::move(store), policy_, [this](const std::string& said) { tell(said); }, reports_);
}

void AnnotatedProgram::must_be_between(const std::string& what) const {
  if (!protection_) refuse(what, "it comes before the start", "call perdure_track_start() first");
  if (is_open_) refuse(what, "it comes within region '" + open_ + "'", "end that first");
}

void AnnotatedProgram::check(std::string_view name, const Use& use) const {
  const std::string object = "region '" + std::string(name) + "'";
  const StoredSet& data = set(use.set);
  if (!use.box) return;
  if (use.box->dimensions != data.data.box.dimensions || !data.data.box.contains(*use.box))
    refuse(object, "it uses " + use.box->text() + " of " + called(data) + ", which is " + data.data.box.text(), "");
  if (data.replicated && *use.box != data.data.box)
    refuse(object, "it uses a part of " + called(data) + ", which is replicated", "say that it uses all of it");
}

void AnnotatedProgram::accesses_of(std::string_view name, const Use& use) {
  check(name, use);
  const Box& box = use.box ? *use.box : set(use.set).data.box;
  if (box.empty()) return;
  if (use.mode == Mode::read) return accesses_.push_back(track::Access::reads(use.set, box));
  if (use.mode == Mode::write) return accesses_.push_back(track::Access::writes(use.set, box));
  accesses_.push_back(track::Access::reads_writes(use.set, box, box));
}

bool AnnotatedProgram::begin(std::string_view name, std::string_view where, std::span<const Use> uses) {
  must_be_between("region '" + std::string(name) + "'");
  if (name.empty()) refuse("a region", "it has no name", "give it one");
  accesses_.clear();
  gives_.clear();
  for (const Use& use : uses) {
    if (use.touches_all) {
      for (track::SetId id = 0; id < protection_->sets().size(); ++id)
        accesses_of(name, {Mode::read_write, id, std::nullopt, {}, false});
    } else if (use.gives.data() != nullptr) {
      gives_.push_back(use.gives);
    } else {
      accesses_of(name, use);
    }
  }
  const track::LoopId id = track::loop_id(name, where);
  const bool runs = protection_->loop(id, name, accesses_, true);
  ++regions_;
  if (runs) {
    if (check_) check_->begin(id, protection_->sets(), accesses_);
    is_open_ = true;
    open_ = name;
  } else {
    for (const auto& value : gives_) protection_->answer(value);
  }
  return runs;
}

void AnnotatedProgram::end() {
  if (!is_open_) refuse("the end of a region", "none was begun", "it follows a begin that says run");
  is_open_ = false;
  if (check_)
    if (const auto found = check_->end(protection_->sets()))
      refuse("region '" + open_ + "'", *found + ", which it did not say", "say it, or a restart has other values");
  for (const auto& value : gives_) protection_->answer(value);
}

// The sets keep their names and exchange their memory. The tracker sees a loop that reads and writes both.
void AnnotatedProgram::swap(track::SetId one, track::SetId other) {
  must_be_between("a swap");
  const StoredSet first = set(one), second = set(other);
  const std::string object = "a swap of " + called(first) + " and " + called(second);
  if (one == other) refuse(object, "they are one", "");
  if (first.data.box != second.data.box || first.type != second.type || first.replicated != second.replicated ||
      !same_boxes(first.owned, second.owned))
    refuse(object, "they have not the same type, extents and boxes", "take arrays that are alike");
  const Use uses[] = {{Mode::read_write, one, std::nullopt, {}, false},
                      {Mode::read_write, other, std::nullopt, {}, false}};
  if (begin("swap " + first.data.name + " " + second.data.name, "", uses)) end();
  protection_->moved(one, second.owned);
  protection_->moved(other, first.owned);
}

void AnnotatedProgram::moved(track::SetId id, std::vector<Part> owned) {
  must_be_between("a move");
  check_parts(set(id), owned);
  if (!same_boxes(set(id).owned, owned))
    refuse(called(set(id)), "its boxes are other ones than before", "a tracked array keeps its division");
  protection_->moved(id, std::move(owned));
}

// Ranks skip together and need no agreement meanwhile. A checkpoint that a signal asks for is made later.
void AnnotatedProgram::tick() {
  if (skips()) return;
  must_be_between("a tick");
  if (protection_->meet("a tick", protection_->wants_checkpoint())) protection_->checkpoint_is_wanted();
}

void AnnotatedProgram::trigger() {
  must_be_between("a trigger");
  protection_->trigger();
}

std::optional<std::vector<std::byte>> AnnotatedProgram::fast_forward(std::span<const std::byte> payload) {
  must_be_between("fast forward");
  auto there = protection_->fast_forward(payload);
  if (there && there->size() != payload.size())
    refuse("fast forward",
           "the checkpoint has " + std::to_string(there->size()) + " bytes, and not " + std::to_string(payload.size()),
           "this is another program");
  return there;
}

void AnnotatedProgram::ended() const {
  if (protection_) protection_->ended();
}

std::string AnnotatedProgram::lack_of_checkpoints() const {
  if (!protection_ || !reports_ || !protection_->taken().empty()) return {};
  if (!protection_->is_late() && told_.empty()) return {};  // the run was too short for a checkpoint
  return "checkpoint '" + policy_.name + "': none was made in " + std::to_string(regions_) + " regions" +
         (told_.empty() ? "" : ": " + told_.back());
}

// If nobody takes the texts, the last ones are kept.
void AnnotatedProgram::tell(const std::string& said) {
  constexpr std::size_t kMost = 100;
  told_.push_back(said);
  if (told_.size() > kMost) told_.pop_front();
}

std::optional<std::string> AnnotatedProgram::next_report() {
  if (told_.empty()) return std::nullopt;
  std::string first = std::move(told_.front());
  told_.pop_front();
  return first;
}

}  // namespace perdure::automatic
