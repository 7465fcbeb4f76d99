#include "engine/pipeline/pipeline.hpp"

namespace perdure::engine {
namespace {

Level level_of(const NodeState& state, const catalog::HeldVersion& held) {
  if (held.all_stored()) return Level::store;
  return state.redundancy.at_node_level(held.id) ? Level::node : Level::process;
}

// An exception of a step must not end the engine, which may be a part of the application.
base::Status run_guarded(Step& step, const StepVersion& version, const std::atomic<bool>& stopping) {
  try {
    return step.run(version, stopping);
  } catch (const std::exception& thrown) {
    return base::fail(PERDURE_INTERNAL, version.id.text(), std::string("the step threw: ") + thrown.what());
  } catch (...) {
    return base::fail(PERDURE_INTERNAL, version.id.text(), "the step threw something");
  }
}

}  // namespace

const char* state_name(StepStatus::State state) {
  switch (state) {
    case StepStatus::State::off:
      return "off";
    case StepStatus::State::waiting:
      return "waiting";
    case StepStatus::State::running:
      return "running";
    case StepStatus::State::failed:
      return "failed";
  }
  return "unknown";
}

std::vector<Passages::Place> Pipeline::places_of(const std::vector<Part>& parts) {
  std::vector<Passages::Place> places;
  for (const auto& part : parts) places.push_back({part.row.needs, part.row.gives, part.added != nullptr, part.off});
  return places;
}

Pipeline::Pipeline(Ledger& ledger, Reports& reports, std::vector<Part> parts, std::function<void()> changed)
    : ledger_(ledger),
      reports_(reports),
      parts_(std::move(parts)),
      changed_(std::move(changed)),
      state_(places_of(parts_), parts_.size()) {
  for (std::size_t step = 0; step < parts_.size() && started_; ++step) {
    if (!parts_[step].added) continue;
    started_ = base::caught(parts_[step].row.name, [&] {
      return threads_.start(
          "step " + parts_[step].row.name, [this, step] { run(step); },
          [this, step](const base::Error& why) {
            if (!stopping_) reports_.add("step " + parts_[step].row.name + ": " + why.text());
            return !stopping_;
          });
    });
  }
}

// `change` moves versions in the state. The engine's own steps are notified afterwards, without the lock.
template <class Change>
void Pipeline::pass(Change change) {
  Passages::Notifications told;
  {
    const auto state = state_.lock();
    told = change(*state);
    ++state->telling;
  }
  struct Telling {  // also if a step throws: the engine may end
    base::Guarded<State>& state;
    ~Telling() {
      const auto held = state.lock();
      --held->telling;
    }
  } over{state_};
  wake_.notify_all();
  for (const auto& [step, version] : told)
    if (OwnStep* own = parts_[step].own) own->take(version);
  report_left_out();
}

// The versions held may be all that the job left, since retention may have been cut short.
void Pipeline::resume() {
  std::vector<StepVersion> held, on_their_way;
  {
    const auto ledger = ledger_.lock();
    for (const auto& [id, version] : ledger->versions()) {
      held.push_back({id, level_of(*ledger, version)});
      if (version.committed && !version.all_stored()) on_their_way.push_back(held.back());
    }
  }
  {
    const auto state = state_.lock();
    for (const auto& version : on_their_way) state->passages.resume(version);
  }
  for (const auto& part : parts_)
    for (const auto& version : held)
      if (part.own != nullptr && !part.row.gives) part.own->take(version);
}

// A commit may leave nothing to store here, if other nodes store its pieces.
void Pipeline::admit(const NodeState& node, const segment::VersionId& id, bool recovered) {
  const auto state = state_.lock();
  for (const auto& version : state->passages.on_their_way())
    if (node.find(version.id) == nullptr) state->passages.gone(version.id);
  const auto* held = node.find(id);
  const bool stored = held != nullptr && held->all_stored();
  state->passages.enter({id, stored ? Level::store : Level::process, recovered});
}

void Pipeline::note_stored(const segment::VersionId& id) {
  const auto state = state_.lock();
  state->passages.note(id, Level::store);
}

void Pipeline::committed(const segment::VersionId& id, bool recovered) {
  for (const auto& part : parts_)
    if (part.own != nullptr && part.row.gives) part.own->take({id, Level::process, recovered});
  pass([&id](State& state) {
    return state.passages.knows(id) ? state.passages.reached(id, Level::process) : Passages::Notifications();
  });
}

void Pipeline::stored(const segment::VersionId& id) {
  bool whole = true;  // a version that left this node after a successful flush was stored
  {
    const auto ledger = ledger_.lock();
    const auto* held = ledger->find(id);
    whole = held == nullptr || held->all_stored();
  }
  if (whole) pass([&id](State& state) { return state.passages.reached(id, Level::store); });
  for (const auto& part : parts_)
    if (part.own != nullptr) part.own->stored(id);
}

void Pipeline::look() {
  if (threads_.empty()) return;  // the engine's own steps need no level but the store's
  std::vector<StepVersion> versions;
  {
    const auto state = state_.lock();
    versions = state->passages.on_their_way();
  }
  if (versions.empty()) return;
  std::vector<segment::VersionId> gone;
  {
    const auto ledger = ledger_.lock();
    for (auto& version : versions) {
      const auto* held = ledger->find(version.id);
      if (held == nullptr) gone.push_back(version.id);
      // stored() reports level store
      if (held != nullptr) version.level = std::min(level_of(*ledger, *held), Level::node);
    }
  }
  pass([&](State& state) {
    Passages::Notifications told;
    for (const auto& id : gone) state.passages.gone(id);
    for (const auto& version : versions) {
      if (version.level < Level::node || !state.passages.knows(version.id)) continue;
      const auto more = state.passages.reached(version.id, version.level);
      told.insert(told.end(), more.begin(), more.end());
    }
    return told;
  });
}

bool Pipeline::idle() const {
  const auto state = state_.lock();
  return state->passages.idle() && state->telling == 0;
}

void Pipeline::run(std::size_t step) {
  for (;;) {
    std::optional<StepVersion> version;
    {
      auto state = state_.lock();
      state.wait(wake_, [&] { return stopping_ || (version = state->passages.next(step)); });
      if (stopping_) return;
    }
    const base::Status outcome = run_guarded(*parts_[step].added, *version, stopping_);
    const base::Status noted = base::caught(version->id, [&]() -> base::Status {
      ended(step, version->id, outcome);
      return {};
    });
    if (noted) continue;
    const auto state = state_.lock();
    (void)state->passages.done(step, version->id);  // the version goes on, and the step takes the next
  }
}

void Pipeline::ended(std::size_t step, const segment::VersionId& id, const base::Status& status) {
  pass([&](State& state) {
    Outcomes& outcomes = state.outcomes[step];
    if (status) {
      ++outcomes.done;
      outcomes.reason.clear();
      outcomes.told.clear();
    } else {
      outcomes.reason = id.text() + ": " + status.error().text();
      if (outcomes.told.insert(status.error().code).second && !stopping_)
        reports_.add("step " + parts_[step].row.name + " of the pipeline failed for " + id.text() + ": " +
                     status.error().text() + "; the version goes on without it");
    }
    return state.passages.done(step, id);
  });
  changed_();
}

void Pipeline::report_left_out() {
  for (std::size_t step = 0; step < parts_.size(); ++step) {
    bool news = false;
    {
      const auto state = state_.lock();
      const auto left_out = state->passages.left_out(step);
      news = left_out > 0 && std::exchange(state->outcomes[step].left_out_told, left_out) == 0;
    }
    if (news)
      reports_.add("step " + parts_[step].row.name + " of the pipeline is slower than versions come: " +
                   std::to_string(kMostWaiting) + " wait for it, and older ones go on without it");
  }
}

std::vector<Pipeline::Shown> Pipeline::show() const {
  std::vector<Shown> shown;
  for (std::size_t step = 0; step < parts_.size(); ++step) {
    const Part& part = parts_[step];
    StepStatus status;
    if (part.own != nullptr) {
      status = part.own->status();
    } else {
      const auto state = state_.lock();
      const Outcomes& outcomes = state->outcomes[step];
      const bool running = state->passages.running(step);
      status.state = running                    ? StepStatus::State::running
                     : !outcomes.reason.empty() ? StepStatus::State::failed
                                                : StepStatus::State::waiting;
      status.waiting = state->passages.waiting(step);
      status.left_out = state->passages.left_out(step);
      status.done = outcomes.done;
      status.reason = outcomes.reason;
    }
    if (part.off) status.state = StepStatus::State::off;
    shown.push_back({part.row, std::move(status)});
  }
  return shown;
}

void Pipeline::stop() {
  {
    const auto state = state_.lock();
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_all();
  threads_.join();
  const auto tell = [this] {  // last, since reports need memory
    const auto state = state_.lock();
    for (std::size_t step = 0; step < parts_.size(); ++step)
      if (const std::size_t left = state->passages.waiting(step); left > 0)
        reports_.note("the engine ends; step " + parts_[step].row.name + " of the pipeline did not get " +
                      std::to_string(left) + " versions");
  };
  base::attempt(tell);
}

}  // namespace perdure::engine
