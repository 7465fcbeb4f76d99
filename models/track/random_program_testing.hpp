#pragma once
// Generates programs of random loops over small data sets, whose control flow depends on their results. A test runs
// them with a tracker, and begins them again anywhere.
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "track/places.hpp"
#include "track/tracker.hpp"

namespace perdure::track {

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15ULL;
  return a ^ (a >> 29U);
}

template <class Use>
void each_index(const Box& box, Use use) {
  if (box.empty()) return;
  auto at = box.begin;
  for (;;) {
    use(at);
    unsigned d = box.dimensions;
    while (d > 0 && ++at[d - 1] == box.end[d - 1]) at[d - 1] = box.begin[d - 1], --d;
    if (d == 0) return;
  }
}

/// The values of all data sets.
class Memory {
 public:
  explicit Memory(const std::vector<DataSet>& sets) : sets_(sets) {
    for (const DataSet& set : sets) values_.emplace_back(set.box.elements());
    for (SetId set = 0; set < sets.size(); ++set)
      each_index(sets[set].box, [&](const auto& at) { value(set, at) = mixed(set + 1, place(set, at) + 77); });
  }
  std::uint64_t& value(SetId set, const std::array<std::int64_t, kMostDimensions>& at) {
    return values_[set][place(set, at)];
  }

 private:
  std::size_t place(SetId set, const std::array<std::int64_t, kMostDimensions>& at) const {
    const Box& box = sets_[set].box;
    std::size_t place = 0;
    for (unsigned d = 0; d < box.dimensions; ++d)
      place =
          place * static_cast<std::size_t>(box.end[d] - box.begin[d]) + static_cast<std::size_t>(at[d] - box.begin[d]);
    return place;
  }
  std::vector<DataSet> sets_;
  std::vector<std::vector<std::uint64_t>> values_;
};

struct Checkpoint {
  Place place;
  std::map<std::pair<SetId, std::array<std::int64_t, kMostDimensions>>, std::uint64_t> saved;
  bool whole = false;
};

class RandomProgram {
 public:
  struct Shape {
    bool initial_phase = false, fast_forward = false;
    /// Adds another block with its own data and loops. Each time step runs as many sub-steps of it as the last answer
    /// says, and loops on both sides hand values over.
    bool two_blocks = false;
  };
  RandomProgram(std::uint64_t seed, Shape shape) : random_(seed), shape_(shape) {
    const auto count = 1 + below(4);
    for (std::uint64_t i = 0; i < count; ++i) sets_.push_back({"set" + std::to_string(i), any_box(), 8, false});
    const Block all{0, count};
    const auto loops = 2 + below(9);
    for (std::uint64_t i = 0; i < loops; ++i) loops_.push_back(any_loop(i, all));
    if (shape.initial_phase)
      for (std::uint64_t i = 0; i < 2; ++i) initial_.push_back(any_loop(100 + i, all));
    steps_ = 2 + below(5);
    if (shape.two_blocks) add_block(all);
  }
  const std::vector<DataSet>& sets() const { return sets_; }

  /// The record of one run.
  struct Run {
    std::vector<std::uint64_t> read;  ///< a hash of the input of each loop that ran
    std::vector<std::uint64_t> answers;
    std::size_t reads_before = 0, answers_before = 0;  ///< at the restore
    std::uint64_t loops = 0;                           ///< all calls, also of skipped loops
    std::vector<std::uint64_t> sub_steps;              ///< of the other block in each time step
    std::vector<Checkpoint> checkpoints;
  };
  struct Plan {
    std::vector<std::uint64_t> begin_before;  ///< loops by number, ascending
    std::optional<std::uint64_t> end_after;   ///< ends each region after so many loops
    const Checkpoint* from = nullptr;
    std::optional<std::pair<SetId, std::array<std::int64_t, kMostDimensions>>> spoilt;  ///< an element to spoil
    Places* recorded = nullptr;  ///< records all loops there, if not null
  };
  Run run(const Plan& plan) const {
    Machine machine(*this, plan);
    return machine.run();
  }

 private:
  struct Loop {
    LoopId id = 0;
    std::vector<Access> accesses;
    bool answers = false;
    std::uint64_t only_if = 1;  // the last answer must be a multiple of this
  };
  struct Block {
    std::uint64_t first_set = 0, sets = 0;
  };

  class Machine {
   public:
    Machine(const RandomProgram& program, const Plan& plan)
        : program_(program), plan_(plan), tracker_(program.shape_.initial_phase), memory_(program.sets_) {
      for (const DataSet& set : program.sets_)
        if (!tracker_.declare(set)) throw std::runtime_error("no such data set");
      if (plan.from != nullptr) tracker_.resume(plan.from->place);
    }
    Run run() {
      for (const Loop& loop : program_.initial_) call(loop);
      tracker_.initial_phase_done();
      for (std::uint64_t step = 0; step < program_.steps_; ++step) {
        if (program_.shape_.fast_forward) {
          std::array<std::uint64_t, 2> payload{step, last_};
          if (const auto there = tracker_.fast_forward(std::as_bytes(std::span(payload)))) {
            std::memcpy(payload.data(), there->data(), sizeof payload);
            step = payload[0], last_ = payload[1];
          }
        }
        for (std::size_t i = 0; i < program_.loops_.size(); ++i) {
          if (program_.shape_.two_blocks && i == program_.sub_steps_at_) sub_steps(step);
          call_if(program_.loops_[i]);
        }
      }
      return result_;
    }

   private:
    /// Elements that were written by then and are not saved get arbitrary values.
    void restore() {
      result_.reads_before = result_.read.size();
      result_.answers_before = result_.answers.size();
      std::mt19937_64 garbage(4711);
      for (SetId set = 0; set < program_.sets_.size(); ++set)
        for (const Box& box : plan_.from->place.written[set].boxes())
          each_index(box, [&](const auto& at) { memory_.value(set, at) = garbage(); });
      for (const auto& [where, value] : plan_.from->saved)
        memory_.value(where.first, where.second) = value ^ (plan_.spoilt == where ? 1U : 0U);
    }
    void sub_steps(std::uint64_t step) {
      const std::uint64_t count = (last_ + step) % 4;
      result_.sub_steps.push_back(count);
      call(program_.hands_down_);
      for (std::uint64_t i = 0; i < count; ++i)
        for (const Loop& loop : program_.other_loops_) call_if(loop);
      call(program_.hands_up_);
    }
    void call_if(const Loop& loop) {
      if (last_ % loop.only_if == 0) call(loop);
    }
    void call(const Loop& loop) {
      for (const auto number : plan_.begin_before)
        if (number == result_.loops) tracker_.begin_checkpoint();
      if (in_region_ && plan_.end_after && region_loops_++ == *plan_.end_after) tracker_.end_region();
      ++result_.loops;
      if (plan_.recorded != nullptr) plan_.recorded->record(loop.id, loop.accesses);
      const Decision& decision = tracker_.loop(loop.id, loop.accesses);
      if (!decision.refused.empty()) throw std::runtime_error(decision.refused);
      if (decision.restore) restore();
      if (decision.opens) {
        result_.checkpoints.push_back({tracker_.place(), {}, false});
        in_region_ = true, region_loops_ = 0;
      }
      for (const Piece& piece : decision.save)
        each_index(piece.box, [&](const auto& at) {
          const bool is_new =
              result_.checkpoints.back().saved.emplace(std::pair(piece.set, at), memory_.value(piece.set, at)).second;
          if (!is_new) throw std::runtime_error("an element is saved twice");
        });
      if (decision.closes) {
        result_.checkpoints.back().place = tracker_.place();
        result_.checkpoints.back().whole = true, in_region_ = false;
      }
      std::uint64_t seen = loop.id;
      if (decision.run) {
        for (const Access& access : loop.accesses)
          if (access.does_read())
            each_index(access.read, [&](const auto& at) { seen = mixed(seen, memory_.value(access.set, at)); });
        for (const Access& access : loop.accesses)
          if (access.does_write())
            each_index(access.written, [&](const auto& at) {
              std::uint64_t value = mixed(seen, access.set);
              for (const auto index : at) value = mixed(value, static_cast<std::uint64_t>(index));
              memory_.value(access.set, at) = value;
            });
        result_.read.push_back(seen);
      }
      if (!loop.answers) return;
      last_ = decision.run ? mixed(seen, 5) >> 40U : 0;
      if (!tracker_.answer(std::as_writable_bytes(std::span(&last_, 1)))) throw std::runtime_error("no such answer");
      result_.answers.push_back(last_);
    }
    const RandomProgram& program_;
    const Plan& plan_;
    Tracker tracker_;
    Memory memory_;
    Run result_;
    std::uint64_t last_ = 0, region_loops_ = 0;
    bool in_region_ = false;
  };

  std::uint64_t below(std::uint64_t most) { return random_() % most; }
  Box any_box() {
    Box box;
    box.dimensions = static_cast<unsigned>(below(3));
    for (unsigned d = 0; d < box.dimensions; ++d) {
      box.begin[d] = -static_cast<std::int64_t>(below(3));
      box.end[d] = 1 + static_cast<std::int64_t>(below(4));
    }
    return box;
  }
  Box any_part(const Box& whole) {
    if (below(2) == 0) return whole;
    Box part = whole;
    for (unsigned d = 0; d < whole.dimensions; ++d) {
      const auto extent = static_cast<std::uint64_t>(whole.end[d] - whole.begin[d]);
      part.begin[d] += static_cast<std::int64_t>(below(extent));
      part.end[d] = part.begin[d] + 1 +
                    static_cast<std::int64_t>(below(static_cast<std::uint64_t>(whole.end[d] - part.begin[d])));
    }
    return part;
  }
  void add_block(const Block& first) {
    const Block other{first.sets, 1 + below(3)};
    for (std::uint64_t i = 0; i < other.sets; ++i) sets_.push_back({"other" + std::to_string(i), any_box(), 8, false});
    const auto loops = 1 + below(5);
    for (std::uint64_t i = 0; i < loops; ++i) other_loops_.push_back(any_loop(200 + i, other));
    hands_down_ = any_copy(300, first, other);
    hands_up_ = any_copy(301, other, first);
    sub_steps_at_ = below(loops_.size());
  }
  Loop any_copy(std::uint64_t number, const Block& from, const Block& to) {
    const auto source = static_cast<SetId>(from.first_set + below(from.sets));
    const auto target = static_cast<SetId>(to.first_set + below(to.sets));
    const Box read = any_part(sets_[source].box), written = any_part(sets_[target].box);
    return {loop_id("copy", std::to_string(number)), {Access::reads(source, read), Access::writes(target, written)}};
  }
  Loop any_loop(std::uint64_t number, const Block& block) {
    Loop loop{loop_id("loop", std::to_string(number)), {}, below(3) == 0, below(3) == 0 ? 1 + below(3) : 1};
    const auto accesses = 1 + below(3);
    for (std::uint64_t i = 0; i < accesses; ++i) {
      const auto set = static_cast<SetId>(block.first_set + below(block.sets));
      const Box a = any_part(sets_[set].box), b = any_part(sets_[set].box);
      switch (below(3)) {
        case 0:
          loop.accesses.push_back(Access::reads(set, a));
          break;
        case 1:
          loop.accesses.push_back(Access::writes(set, a));
          break;
        default:
          loop.accesses.push_back(Access::reads_writes(set, a, b));
      }
    }
    return loop;
  }

  std::mt19937_64 random_;
  Shape shape_;
  std::vector<DataSet> sets_;
  std::vector<Loop> initial_, loops_;
  std::uint64_t steps_ = 0;
  std::vector<Loop> other_loops_;  // loops of the other block
  Loop hands_down_, hands_up_;     // loops that hand values to the other block, and back
  std::size_t sub_steps_at_ = 0;   // before the first block's loop of that number
};

}  // namespace perdure::track
