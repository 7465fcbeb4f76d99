#pragma once
// Asks the stores of dead engines which versions they have. A store may answer late or never.
#include <functional>
#include <memory>

#include "node/left.hpp"
#include "store/store.hpp"

namespace perdure::node {

/// Opens the store at a location.
using OpenStore = std::function<base::Result<std::unique_ptr<store::Store>>(const std::string& location)>;

/// Opens each store once. Used by one thread.
class StoreLook {
 public:
  explicit StoreLook(OpenStore open) : open_(std::move(open)) {}
  /// Returns the facts of all names that are held, as far as the store can be asked.
  Facts facts_of(const Left& left);
  /// Makes the stored versions durable for which residue is given up, since their own writer may have failed to do so.
  base::Status make_lasting(const Left& left, const Facts& facts);

 private:
  base::Result<store::Store*> store_of(const JobNote& job);

  OpenStore open_;
  std::map<std::string, std::unique_ptr<store::Store>> stores_;  // by location
};

/// `wanted`: attempts to judge.
base::Result<StoreFacts> facts_of(store::Store& store, const std::string& name,
                                  const std::set<segment::VersionId>& wanted);

}  // namespace perdure::node
