#pragma once
// Defines the arguments that a kernel is called with: accessors to the elements around its index, indices, and
// reductions. Each argument makes a row object; the row hands out one value per index.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mesh/data.hpp"
#include "mesh/reduction.hpp"
#include "mesh/stencil.hpp"

namespace perdure::mesh {

/// Gives access to one element of a data set and to its neighbours: a(0, 0), a(-1, 0), a(0, 0, 2).
template <class T>
class Accessor {
 public:
  Accessor(T* here, std::int64_t y, std::int64_t z) : here_(here), y_(y), z_(z) {}
  T& operator()(std::int64_t dx) const { return here_[dx]; }
  T& operator()(std::int64_t dx, std::int64_t dy) const { return here_[dx + dy * y_]; }
  T& operator()(std::int64_t dx, std::int64_t dy, std::int64_t dz) const { return here_[dx + dy * y_ + dz * z_]; }

 private:
  T* here_;
  std::int64_t y_, z_;
};

/// Gives access to one value of a profile and to its neighbours along the profile's axis.
template <class T>
class ProfileAccessor {
 public:
  explicit ProfileAccessor(const T* here) : here_(here) {}
  const T& operator()(std::int64_t offset) const { return here_[offset]; }

 private:
  const T* here_;
};

/// Receives reports of kernels that access elements outside their declaration; see Mesh::Options::check.
class Reach {
 public:
  virtual ~Reach() = default;
  virtual void strays(const Dataset& set, std::int64_t dx, std::int64_t dy, std::int64_t dz) = 0;
};

/// Asks a Reach before each access.
template <class T>
class CheckedAccessor {
 public:
  CheckedAccessor(Accessor<T> all, const Dataset& set, const Stencil& stencil, Reach& reach)
      : all_(all), set_(&set), stencil_(&stencil), reach_(&reach) {}
  T& operator()(std::int64_t dx, std::int64_t dy = 0, std::int64_t dz = 0) const {
    if (!stencil_->contains(dx, dy, dz)) {
      reach_->strays(*set_, dx, dy, dz);
      return all_(0, 0, 0);
    }
    return all_(dx, dy, dz);
  }

 private:
  Accessor<T> all_;
  const Dataset* set_;
  const Stencil* stencil_;
  Reach* reach_;
};

/// Says how a loop accesses a data set.
struct Use {
  Dataset* set = nullptr;
  track::Access::Mode mode = track::Access::Mode::read;
  const Stencil* stencil = nullptr;
};

/// The argument for a Data<T>; `T` is const if the loop only reads it. The stencil must outlive the call of the loop.
template <class T>
struct DataArgument {
  Use use;
  struct Row {
    T* first;
    std::int64_t y, z;
    Accessor<T> at(std::int64_t i) const { return {first + i, y, z}; }
  };
  Row row(const Index& index, int) const {
    return {reinterpret_cast<T*>(use.set->address(index)), use.set->stride(1), use.set->stride(2)};
  }
  struct CheckedRow {
    Row row;
    const Use* use;
    Reach* reach;
    CheckedAccessor<T> at(std::int64_t i) const { return {row.at(i), *use->set, *use->stencil, *reach}; }
  };
  CheckedRow checked(const Index& index, Reach& reach) const { return {row(index, 0), &use, &reach}; }
};

template <class T>
struct ProfileArgument {
  const Profile<T>* profile;
  struct Row {
    const T* first;
    std::int64_t step;
    ProfileAccessor<T> at(std::int64_t i) const { return ProfileAccessor<T>(first + i * step); }
  };
  Row row(const Index& index, int) const {
    return {profile->values.data() + (index[profile->axis] - profile->first), profile->axis == 0 ? 1 : 0};
  }
  Row checked(const Index& index, Reach&) const { return row(index, 0); }
};

/// Passes the index itself to the kernel.
struct IndexArgument {
  struct Row {
    Index first;
    Index at(std::int64_t i) const {
      Index index = first;
      index[0] += i;
      return index;
    }
  };
  Row row(const Index& index, int) const { return {index}; }
  Row checked(const Index& index, Reach&) const { return {index}; }
};

/// Passes a `double&` to the kernel, which adds to it, lowers it or raises it.
struct ReductionArgument {
  Reduction* reduction;
  /// Accumulates one row in a register and stores the result in the thread's slot when the row ends.
  class Row {
   public:
    explicit Row(Reduction::Slot& slot) : slot_(&slot), value_(slot.value) {}
    ~Row() { slot_->value = value_; }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    double& at(std::int64_t) { return value_; }

   private:
    Reduction::Slot* slot_;
    double value_;
  };
  Row row(const Index&, int thread) const { return Row(reduction->slot(thread)); }
  Row checked(const Index&, Reach&) const { return Row(reduction->slot(0)); }
};

/// The reduction argument for exact sums: each value that the kernel adds enters the sum separately.
struct ExactArgument {
  Reduction* reduction;
  class Row {
   public:
    Row(Reduction::Slot& slot, bool exact) : slot_(&slot), exact_(exact), value_(exact ? 0 : slot.value) {}
    ~Row() { exact_ ? next() : static_cast<void>(slot_->value = value_); }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    double& at(std::int64_t) {
      if (exact_) next();
      return value_;
    }

   private:
    void next() {
      if (value_ != 0) slot_->sum.add(value_);
      value_ = 0;
    }
    Reduction::Slot* slot_;
    bool exact_;
    double value_;
  };
  Row row(const Index&, int thread) const { return {reduction->slot(thread), reduction->exact()}; }
  Row checked(const Index&, Reach&) const { return {reduction->slot(0), reduction->exact()}; }
};

inline const Stencil& here() {
  static const Stencil point;
  return point;
}

template <class T>
DataArgument<const T> read(Data<T>& data, const Stencil& stencil = here()) {
  return {{&data, track::Access::Mode::read, &stencil}};
}
/// Declares that the kernel writes every element of the loop's range and reads none of its old values.
template <class T>
DataArgument<T> write(Data<T>& data) {
  return {{&data, track::Access::Mode::write, &here()}};
}
/// Declares that the kernel reads the element itself and may write it. The other elements that it reads must not be
/// among those that the loop writes.
template <class T>
DataArgument<T> read_write(Data<T>& data, const Stencil& stencil = here()) {
  return {{&data, track::Access::Mode::read_write, &stencil}};
}
template <class T>
DataArgument<T> increment(Data<T>& data) {
  return read_write(data);
}
template <class T>
ProfileArgument<T> along(const Profile<T>& profile) {
  return {&profile};
}
inline IndexArgument index() { return {}; }
inline ReductionArgument into(Reduction& reduction) { return {&reduction}; }

}  // namespace perdure::mesh
