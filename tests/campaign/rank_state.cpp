#include "campaign/rank_state.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "array/any_boxes_testing.hpp"
#include "campaign/arrays.hpp"

namespace perdure::campaign {
namespace {

constexpr auto kNothing = std::byte{0xa5};  // fills memory that nobody has written

class ArrayParts : public RankState {
 public:
  ArrayParts(int shapes, const Launch& launch, std::size_t number, int rank, int ranks)
      : shapes_(shapes_of(shapes)), launch_(launch), number_(number), rank_(rank), ranks_(ranks) {
    divide(division_at(launch, 0));
    advance(0);
  }
  std::string protect(perdure_t* handle, std::size_t act) override {
    // Memory that the library knows must stay valid until all parts have been declared again.
    const auto before = std::exchange(parts_, {});
    const std::uint64_t step = before[0].step();
    divide(division_at(launch_, act));
    advance(step);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (const auto status = declare(handle, shapes_[i], parts_[i]); status != PERDURE_OK)
        return shapes_[i].name + ": " + perdure_error_text(handle);
    return "";
  }
  void advance(std::uint64_t step) override {
    came_ = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto bytes = image(i, step);
      std::copy(bytes.begin(), bytes.end(), parts_[i].memory.begin());  // the memory that the library knows
    }
  }
  std::uint64_t step() const override { return parts_[0].step(); }
  void forget() override {
    came_ = false;
    for (Part& part : parts_) std::fill(part.memory.begin(), part.memory.end(), kNothing);
  }
  bool touched() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
      return std::any_of(part.memory.begin(), part.memory.end(), [](std::byte byte) { return byte != kNothing; });
    });
  }
  void came(bool spoilt) override {
    came_ = true;
    for (std::size_t i = 1; spoilt && i < parts_.size(); ++i) {
      if (parts_[i].division.boxes.empty()) continue;
      const auto& lies = parts_[i].division.boxes.back();
      put_element(shapes_[i], lies.box.begin, step() + 1, parts_[i].memory.data() + lies.offset);
      return;
    }
  }
  std::string wrong() const override {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (const auto wanted = image(i, step()); wanted != parts_[i].memory) return text_of(i, wanted);
    return "";
  }

 private:
  struct Part {
    ArrayDivision division;
    std::vector<std::byte> memory{};
    std::uint64_t step() const {
      std::uint64_t step = 0;
      std::memcpy(&step, memory.data(), sizeof step);
      return step;
    }
  };

  void divide(int seed) {
    parts_.clear();
    for (const auto& shape : shapes_) {
      Part part{division_of(shape, seed, rank_, ranks_)};
      part.memory.resize(part.division.bytes + 1);
      parts_.push_back(std::move(part));
    }
  }

  // Returns the boxes as a restore fills them.
  std::vector<array::Strided> filled(std::size_t i) const {
    std::vector<array::Strided> all = parts_[i].division.boxes;
    if (!came_ || !parts_[i].division.fill_ghosts) return all;
    for (auto& lies : all) {
      const auto wide = array::widened(lies.box, parts_[i].division.ghosts, shapes_[i].whole);
      for (unsigned d = 0; d < wide.dimensions; ++d)
        lies.offset -= lies.strides[d] * static_cast<std::int64_t>(lies.box.begin[d] - wide.begin[d]);
      lies.box = wide;
    }
    return all;
  }

  /// Returns the expected memory of this part at the step, including gaps between elements.
  std::vector<std::byte> image(std::size_t i, std::uint64_t step) const {
    std::vector<std::byte> bytes(parts_[i].memory.size(), kNothing);
    if (i == 0) {
      std::memcpy(bytes.data(), &step, sizeof step);
      return bytes;
    }
    for (const auto& lies : filled(i))
      array::each_element(lies.box, [&](const array::Index& index) {
        put_element(shapes_[i], index, step, bytes.data() + lies.at(index));
      });
    return bytes;
  }

  std::string text_of(std::size_t i, const std::vector<std::byte>& wanted) const {
    const auto& shape = shapes_[i];
    const auto& memory = parts_[i].memory;
    std::size_t wrong = 0, all = 0;
    std::string first;
    for (const auto& lies : filled(i))
      array::each_element(lies.box, [&](const array::Index& index) {
        const auto at = static_cast<std::size_t>(lies.at(index));
        ++all;
        if (std::memcmp(&memory[at], &wanted[at], shape.element_bytes) == 0) return;
        if (wrong++ == 0) first = place_text(shape, index) + whose(shape, index, &memory[at]);
      });
    const std::string what = "on rank " + std::to_string(rank_) + " of " + std::to_string(ranks_) + " of '" +
                             shape.name + "' " + shape.whole.text() + " (" + shape.type + ") ";
    if (wrong == 0) return what + "memory beside the elements was written to";
    return what + std::to_string(wrong) + " of " + std::to_string(all) + " elements are wrong, first " + first;
  }
  static std::string place_text(const ArrayShape& shape, const array::Index& index) {
    std::string text = "[";
    for (unsigned d = 0; d < shape.whole.dimensions; ++d) text += (d == 0 ? "" : ", ") + std::to_string(index[d]);
    return text + "]";
  }
  // Returns which step the element belongs to, if it is one of any launch so far.
  std::string whose(const ArrayShape& shape, const array::Index& index, const std::byte* found) const {
    std::vector<std::byte> other(shape.element_bytes, kNothing);
    if (std::memcmp(other.data(), found, other.size()) == 0) return ", which was not written";
    for (std::size_t launch = 0; launch <= number_; ++launch)
      for (std::size_t act = 0; act < 16; ++act) {
        put_element(shape, index, step_of(launch, act), other.data());
        if (std::memcmp(other.data(), found, other.size()) == 0)
          return ", which is that of step " + std::to_string(step_of(launch, act));
      }
    return "";
  }

  perdure_status declare(perdure_t* handle, const ArrayShape& shape, Part& part) const {
    auto& mine = part.division;
    const auto* extents = shape.whole.end.data();
    const perdure_array array{shape.name.c_str(),
                              shape.type.c_str(),
                              static_cast<int>(shape.whole.dimensions),
                              extents,
                              mine.ghosts.data(),
                              mine.fill_ghosts ? 1 : 0,
                              nullptr,
                              nullptr};
    std::byte* memory = part.memory.data();
    std::byte* first = mine.boxes.empty() ? memory : memory + mine.boxes[0].offset;
    if (mine.call == ArrayDivision::Call::replicated)
      return perdure_protect_replicated(handle, shape.id, &array, memory);
    if (mine.call == ArrayDivision::Call::list)
      return perdure_protect_list(handle, shape.id, &array, memory,
                                  mine.boxes.empty() ? 0 : mine.boxes[0].box.extent(0));
    if (mine.call == ArrayDivision::Call::block) return perdure_protect_block(handle, shape.id, &array, nullptr, first);
    if (mine.call == ArrayDivision::Call::block_cyclic)
      return perdure_protect_block_cyclic(handle, shape.id, &array, nullptr, mine.lengths.data(), memory);
    std::vector<perdure_box> boxes;
    for (const auto& lies : mine.boxes)
      boxes.push_back({memory + lies.offset, lies.box.begin.data(), lies.box.end.data(),
                       mine.dense ? nullptr : lies.strides.data()});
    return perdure_protect_global(handle, shape.id, &array, boxes.data(), boxes.size());
  }

  std::vector<ArrayShape> shapes_;
  const Launch& launch_;
  std::size_t number_;
  int rank_, ranks_;
  std::vector<Part> parts_;
  bool came_ = false;  ///< by a restore, which fills ghosts only on request
};

}  // namespace

std::unique_ptr<RankState> arrays_of(const Scenario& scenario, std::size_t launch, int rank) {
  return std::make_unique<ArrayParts>(scenario.job_of(launch).arrays, scenario.launches[launch], launch, rank,
                                      scenario.ranks_of(launch));
}

int division_at(const Launch& launch, std::size_t act) {
  return launch.division + (launch.moves ? static_cast<int>(act) : 0);
}

}  // namespace perdure::campaign
