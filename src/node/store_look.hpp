#pragma once
// Asks the stores of dead engines what they have. A store may take long to answer, or never do.
#include <functional>
#include <memory>

#include "node/left.hpp"
#include "store/store.hpp"

namespace perdure::node {

/// Opens the store at a location.
using OpenStore = std::function<base::Result<std::unique_ptr<store::Store>>(const std::string& location)>;

/// The stores that it opened, each once. One thread.
class StoreLook {
 public:
  explicit StoreLook(OpenStore open) : open_(std::move(open)) {}
  /// Of all names that are held, as far as the store can be asked.
  Facts facts_of(const Left& left);
  /// What is given up for it stays in the store, also where its own writer could not make sure of that.
  base::Status make_lasting(const Left& left, const Facts& facts);

 private:
  base::Result<store::Store*> store_of(const JobNote& job);

  OpenStore open_;
  std::map<std::string, std::unique_ptr<store::Store>> stores_;  // by location
};

/// `wanted`: attempts that are to be judged.
base::Result<StoreFacts> facts_of(store::Store& store, const std::string& name,
                                  const std::set<segment::VersionId>& wanted);

}  // namespace perdure::node
