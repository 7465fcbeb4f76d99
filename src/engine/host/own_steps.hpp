#pragma once
// The engine's own steps of the pipeline pass versions to the parts that replicate, flush and retire them.
#include "engine/pipeline/pipeline.hpp"

namespace perdure::engine {

class Flusher;
class Janitor;
class NodeGroup;

class ReplicateStep final : public OwnStep {
 public:
  /// `group` may be nullptr: there is no redundancy. All arguments outlive it.
  ReplicateStep(Ledger& ledger, NodeGroup* group) : ledger_(ledger), group_(group) {}
  void take(const StepVersion& version) override;
  void stored(const segment::VersionId& id) override;
  StepStatus status() const override;

 private:
  Ledger& ledger_;
  NodeGroup* group_;
};

class FlushStep final : public OwnStep {
 public:
  explicit FlushStep(Ledger& ledger) : ledger_(ledger) {}
  /// The flusher reports stored versions to the pipeline, so it is made later. No version is missed before: the flusher
  /// looks at the whole ledger once when it begins.
  void use(Flusher& flusher) { flusher_ = &flusher; }
  void take(const StepVersion& version) override;
  StepStatus status() const override;

 private:
  Ledger& ledger_;
  std::atomic<Flusher*> flusher_ = nullptr;
};

class RetireStep final : public OwnStep {
 public:
  explicit RetireStep(Janitor& janitor) : janitor_(janitor) {}
  void take(const StepVersion& version) override;
  StepStatus status() const override;

 private:
  Janitor& janitor_;
};

}  // namespace perdure::engine
