// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/iteration_emulator.hpp"

#include <barrier>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/sweep/iterated/iterated_held_rows.inl"

namespace echelon::reference {
namespace {

/// Shared memories of the CTAs of a cluster; copies are the same memories. Every byte is set: doubles are NaN and places
/// point far outside until somebody writes them.
class CtaMemories {
 public:
  CtaMemories(int ctas, std::int64_t bytes) : of_(std::make_shared<std::vector<Array<unsigned char>>>()) {
    for (int c = 0; c < ctas; ++c) of_->emplace_back(bytes, static_cast<unsigned char>(0xff));
  }
  int ctas() const { return static_cast<int>(of_->size()); }
  unsigned char* memory(int cta) const { return (*of_)[static_cast<std::size_t>(cta)].data(); }
  void put(int cta, int offset, double x) const { std::memcpy(memory(cta) + offset, &x, sizeof x); }
  void store(int cta, int offset, double x) const { put(cta, offset, x); }
  double get(int cta, int offset) const { return load(cta, offset); }
  double load(int cta, int offset) const {
    double x;
    std::memcpy(&x, memory(cta) + offset, sizeof x);
    return x;
  }

 private:
  std::shared_ptr<std::vector<Array<unsigned char>>> of_;
};

/// All threads of all CTAs, phase by phase.
class PhaseMachine : public CtaMemories {
 public:
  PhaseMachine(int ctas, int threads, std::int64_t bytes) : CtaMemories(ctas, bytes), threads_(threads) {}

  template <class Work>
  void each(const Work& work) {
    for (int c = 0; c < ctas(); ++c) {
      for (int t = 0; t < threads_; ++t) {
        work(emulated_device().downwards ? Worker{ctas() - 1 - c, threads_ - 1 - t} : Worker{c, t});
      }
    }
  }
  void cta_barrier() {}
  void cluster_barrier() {}

  template <class State>
  auto states() const {
    struct All {
      std::vector<State> of;
      int threads;
      State& operator[](Worker w) { return of[static_cast<std::size_t>(w.cta * threads + w.thread)]; }
    };
    return All{std::vector<State>(static_cast<std::size_t>(ctas() * threads_)), threads_};
  }

 private:
  int threads_;
};

/// What the threads of a cluster share.
struct SharedCluster {
  CtaMemories memories;
  std::vector<std::unique_ptr<std::barrier<>>> of_cta;
  std::barrier<> of_all;

  SharedCluster(int ctas, int threads, std::int64_t bytes) : memories(ctas, bytes), of_all(ctas * threads) {
    for (int c = 0; c < ctas; ++c) of_cta.push_back(std::make_unique<std::barrier<>>(threads));
  }
};

/// One thread of it.
class ThreadMachine : public CtaMemories {
 public:
  ThreadMachine(SharedCluster& cluster, Worker own) : CtaMemories(cluster.memories), cluster_(cluster), own_(own) {}
  template <class Work>
  void each(const Work& work) {
    work(own_);
  }
  void cta_barrier() { cluster_.of_cta[static_cast<std::size_t>(own_.cta)]->arrive_and_wait(); }
  void cluster_barrier() { cluster_.of_all.arrive_and_wait(); }
  template <class State>
  auto states() const {
    struct One {
      State state;
      State& operator[](Worker) { return state; }
    };
    return One{};
  }

 private:
  SharedCluster& cluster_;
  Worker own_;
};

/// run(machine) by all threads.
template <class Run>
void emulate(int ctas, int threads, std::int64_t bytes, const Run& run) {
  if (!emulated_device().real_threads) {
    PhaseMachine machine(ctas, threads, bytes);
    run(machine);
    return;
  }
  SharedCluster cluster(ctas, threads, bytes);
  std::vector<std::jthread> workers;
  for (int c = 0; c < ctas; ++c) {
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&cluster, &run, own = Worker{c, t}] {
        ThreadMachine machine(cluster, own);
        run(machine);
      });
    }
  }
}

template <class Visit>
void with_block(int block, const Visit& visit) {
  switch (block) {
    case 1: return visit.template operator()<1>();
    case 2: return visit.template operator()<2>();
    case 3: return visit.template operator()<3>();
    case 4: return visit.template operator()<4>();
    case 5: return visit.template operator()<5>();
    case 8: return visit.template operator()<8>();
    default: return visit.template operator()<0>();
  }
}

void sweep(int, const IterationSweep& v) {
  ++emulated_device().sweeps;
  const int b = v.rows.block, blocks = row_blocks_a_cta(b);
  const std::int64_t rows_a_cta = std::int64_t{blocks} * v.rows.rows_a_block;
  const auto ctas = static_cast<int>((v.rows.rows + rows_a_cta - 1) / rows_a_cta);
  emulate(ctas, iteration_threads, b == 1 ? 0 : 8 * std::int64_t{blocks} * b,
          [&](auto& machine) { with_block(b, [&]<int B>() { sweep_stored_rows<B>(v, machine); }); });
}

void copy(int, const IterationCopy& v) {
  ++emulated_device().copies;
  const std::int64_t n = v.rows * v.block;
  for (std::int64_t i = 0; i < n; ++i) copy_scalar(v, emulated_device().downwards ? n - 1 - i : i);
}

template <class Machine>
void run_cluster(const ClusterView& v, Machine& machine) {
  if (v.form == ClusterForm::held) {
    if (v.held_entries == 4) return iterate_held_rows<4>(v, machine);
    if (v.held_entries == 8) return iterate_held_rows<8>(v, machine);
    if (v.held_entries == 10) return iterate_held_rows<10>(v, machine);
    if (v.held_entries == 13) return iterate_held_rows<13>(v, machine);
    return iterate_held_rows<16>(v, machine);
  }
  with_block(v.block, [&]<int B>() {
    if (v.form == ClusterForm::resident) return iterate_in_cluster<B, true>(v, machine);
    iterate_in_cluster<B, false>(v, machine);
  });
}

void cluster(int, const ClusterView& given) {
  ++emulated_device().clusters;
  ClusterView v = given;
  // Few threads of the machine do, unless each has its row.
  constexpr int few = 3;
  if (emulated_device().real_threads) v.threads = v.form == ClusterForm::held ? v.triangle[0].piece : few;
  emulate(v.ctas, v.threads, v.layout.bytes, [&](auto& machine) { run_cluster(v, machine); });
}

bool can_cluster(int, const ClusterView& v) {
  const EmulatedDevice& device = emulated_device();
  if (v.form == ClusterForm::held && !device.holds_rows) return false;
  if (v.form == ClusterForm::resident && !device.holds_pieces) return false;
  return v.ctas >= device.least_ctas && v.ctas <= device.most_ctas && v.layout.bytes <= device.shared_bytes &&
         v.threads <= threads_at_most(v);
}

}  // namespace

EmulatedDevice& emulated_device() {
  static EmulatedDevice device;
  return device;
}

const IterationLaunches* emulated_launches() {
  static const IterationLaunches table{sweep, copy, cluster, can_cluster};
  return &table;
}

}  // namespace echelon::reference
