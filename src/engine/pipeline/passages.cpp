#include "engine/pipeline/passages.hpp"

#include <algorithm>
#include <utility>

namespace perdure::engine {

Passages::Passages(std::vector<Place> places, std::size_t most_waiting)
    : places_(std::move(places)), most_waiting_(most_waiting), left_out_(places_.size()) {}

Passages::Passage* Passages::find(const segment::VersionId& id) {
  const auto found = std::find_if(passages_.begin(), passages_.end(),
                                  [&id](const Passage& passage) { return passage.version.id == id; });
  return found == passages_.end() ? nullptr : &*found;
}

void Passages::enter(const StepVersion& version) {
  if (find(version.id) == nullptr) passages_.push_back({version});
}

void Passages::resume(const StepVersion& version) {
  if (find(version.id) != nullptr) return;
  Passage passage{version, 0, false, true};
  Notifications nobody;
  while (passage.at < places_.size() && passes(passage, nobody)) {
  }
  passage.own_only = false;
  if (passage.at < places_.size()) passages_.push_back(passage);
}

Passages::Notifications Passages::reached(const segment::VersionId& id, Level level) {
  Passage* passage = find(id);
  if (passage == nullptr) passage = &passages_.emplace_back(Passage{{id, level}, 0, false, true});
  passage->version.level = std::max(passage->version.level, level);
  return proceed();
}

void Passages::note(const segment::VersionId& id, Level level) {
  if (Passage* passage = find(id)) passage->version.level = std::max(passage->version.level, level);
}

bool Passages::knows(const segment::VersionId& id) const {
  return std::any_of(passages_.begin(), passages_.end(),
                     [&id](const Passage& passage) { return passage.version.id == id; });
}

// Moves the version past its step; false if it waits there.
bool Passages::passes(Passage& passage, Notifications& told) const {
  const Place& place = places_[passage.at];
  const Level level = passage.version.level;
  if (!place.off) {
    if (level < place.gives.value_or(place.needs)) return false;
    if (place.added && !passage.own_only) return false;
    if (!place.added && !place.gives) told.push_back({passage.at, passage.version});
  }
  ++passage.at;
  return true;
}

Passages::Notifications Passages::proceed() {
  Notifications told;
  bool again = true;
  while (std::exchange(again, false)) {
    for (Passage& passage : passages_)
      while (passage.at < places_.size() && passes(passage, told)) {
      }
    for (std::size_t step = 0; step < places_.size(); ++step) again = leave_one_out(step) || again;
  }
  std::erase_if(passages_, [this](const Passage& passage) { return passage.at == places_.size(); });
  return told;
}

bool Passages::leave_one_out(std::size_t step) {
  if (waiting(step) <= most_waiting_) return false;
  const auto oldest = std::find_if(passages_.begin(), passages_.end(), [this, step](const Passage& passage) {
    return waits_for(passage, step) && !passage.running;
  });
  ++oldest->at;
  ++left_out_[step];
  return true;
}

bool Passages::waits_for(const Passage& passage, std::size_t step) const {
  return passage.at == step && step < places_.size() && places_[step].added &&
         passage.version.level >= places_[step].needs;
}

std::optional<StepVersion> Passages::next(std::size_t step) {
  for (Passage& passage : passages_) {
    if (!waits_for(passage, step) || passage.running) continue;
    passage.running = true;
    return passage.version;
  }
  return std::nullopt;
}

Passages::Notifications Passages::done(std::size_t step, const segment::VersionId& id) {
  Passage* passage = find(id);
  if (passage == nullptr || passage->at != step || !passage->running) return {};
  passage->running = false;
  ++passage->at;
  return proceed();
}

std::vector<StepVersion> Passages::on_their_way() const {
  std::vector<StepVersion> versions;
  for (const Passage& passage : passages_)
    if (passage.version.level < Level::store) versions.push_back(passage.version);
  return versions;
}

void Passages::gone(const segment::VersionId& id) {
  std::erase_if(passages_, [&id](const Passage& passage) {
    return passage.version.id == id && passage.version.level < Level::store && !passage.running;
  });
}

std::size_t Passages::waiting(std::size_t step) const {
  return static_cast<std::size_t>(
      std::count_if(passages_.begin(), passages_.end(),
                    [this, step](const Passage& passage) { return waits_for(passage, step) && !passage.running; }));
}

bool Passages::running(std::size_t step) const {
  return std::any_of(passages_.begin(), passages_.end(),
                     [step](const Passage& passage) { return passage.at == step && passage.running; });
}

bool Passages::idle() const {
  return std::none_of(passages_.begin(), passages_.end(),
                      [this](const Passage& passage) { return waits_for(passage, passage.at); });
}

}  // namespace perdure::engine
