// SPDX-License-Identifier: BSD-3-Clause
// What a CUDA program does on its GPU, seen by CUPTI without a change to the program:
//   CUDA_INJECTION64_PATH=build/bench/libcuda_trace.so echelon solve --backend cuda …
// When the program ends, on stderr: its loop, which is all between the first and the last kernel whose name has
// CUDA_TRACE_LOOP in it ("sweep_kernel" unless said), by kernels, copies and clearings, and the GPU's pauses there; what was
// copied outside; one round of the loop as it ran.
#include <cuda.h>
#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Event {
  std::uint64_t start, end;  // ns
  bool kernel;
  std::uint64_t bytes;  // of a copy or clearing
  std::string name;
};

/// Never freed: CUPTI may bring its last records when other objects are gone.
struct Trace {
  std::mutex guard;
  std::vector<Event> events;
  std::size_t lost = 0, without_times = 0;
};
Trace& trace = *new Trace;

/// A kernel's name without namespaces, arguments and template parameters.
std::string short_name(const char* mangled) {
  int status = 0;
  char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string full = status == 0 && plain ? plain : mangled;
  std::free(plain);
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const char c = full[i];
    if (full.compare(i, 21, "(anonymous namespace)") == 0) {
      i += 20;
    } else if (c == '<') {
      ++depth;
    } else if (c == '>') {
      --depth;
    } else if (depth == 0) {
      if (c == '(') break;
      name = c == ' ' || c == ':' ? "" : name + c;
    }
  }
  return name.empty() ? full : name;
}

std::string direction(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "copy, host to GPU";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "copy, GPU to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "copy on the GPU";
    default: return "copy, kind " + std::to_string(kind);
  }
}

void add(Event event) {
  if (event.start == 0 || event.end == 0) {
    ++trace.without_times;
  } else {
    trace.events.push_back(std::move(event));
  }
}

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = std::size_t{8} << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, *size));
  *records = 0;
}

void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(trace.guard);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
        add({copy.start, copy.end, false, copy.bytes, direction(copy.copyKind)});
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& clearing = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
        add({clearing.start, clearing.end, false, clearing.bytes, "clearing on the GPU"});
        break;
      }
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        add({kernel.start, kernel.end, true, 0, kernel.name ? short_name(kernel.name) : "?"});
        break;
      }
      default: break;
    }
  }
  std::free(buffer);
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) trace.lost += dropped;
}

using Chosen = std::vector<const Event*>;

void print_copies(const char* title, const Chosen& chosen) {
  std::map<std::pair<std::uint64_t, std::string>, long, std::greater<>> kinds;  // the largest first
  for (const Event* e : chosen) {
    if (!e->kernel) ++kinds[{e->bytes, e->name}];
  }
  std::fprintf(stderr, "%s:%s\n", title, kinds.empty() ? " none" : "");
  constexpr std::size_t most = 12;
  std::size_t printed = 0;
  for (const auto& [what, count] : kinds) {
    if (++printed <= most) {
      std::fprintf(stderr, "  %8ld of %12llu bytes  %s\n", count, static_cast<unsigned long long>(what.first),
                   what.second.c_str());
    }
  }
  if (printed > most) std::fprintf(stderr, "  and %zu other sizes\n", printed - most);
}

void print_kernels(const Chosen& chosen) {
  struct Sum {
    std::string name;
    long count = 0;
    double ns = 0;
  };
  std::map<std::string, Sum> by_name;
  for (const Event* e : chosen) {
    if (!e->kernel) continue;
    Sum& sum = by_name[e->name];
    sum.name = e->name;
    ++sum.count;
    sum.ns += static_cast<double>(e->end - e->start);
  }
  std::vector<Sum> sums;
  for (const auto& [name, sum] : by_name) sums.push_back(sum);
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.ns > b.ns; });
  for (const Sum& s : sums) {
    std::fprintf(stderr, "  %8ld  %10.3f ms  %9.2f us each  %s\n", s.count, 1e-6 * s.ns,
                 1e-3 * s.ns / static_cast<double>(s.count), s.name.c_str());
  }
}

/// The GPU did nothing between two events.
struct Pause {
  std::uint64_t ns;
  const Event *before, *after;
};

/// Of events sorted by start, the longest first.
std::vector<Pause> pauses_of(const Chosen& chosen) {
  std::vector<Pause> pauses;
  const Event* last = nullptr;
  for (const Event* e : chosen) {
    if (last && e->start > last->end) pauses.push_back({e->start - last->end, last, e});
    if (!last || e->end > last->end) last = e;
  }
  std::sort(pauses.begin(), pauses.end(), [](const Pause& a, const Pause& b) { return a.ns > b.ns; });
  return pauses;
}

void print_pauses(const std::vector<Pause>& pauses) {
  // Kernels that follow one another on a stream are up to two microseconds apart: no pauses but their launches.
  constexpr std::uint64_t bounds[] = {2'000, 5'000, 10'000, 20'000, 50'000, 1'000'000};
  std::fprintf(stderr, "pauses of the GPU in the loop:\n");
  std::uint64_t from = 0;
  const auto in_band = [&](std::uint64_t low, std::uint64_t high) {
    long count = 0;
    double ns = 0;
    for (const Pause& p : pauses) {
      if (p.ns >= low && p.ns < high) ++count, ns += static_cast<double>(p.ns);
    }
    if (count > 0)
      std::fprintf(stderr, "  %8ld  %10.3f ms  of %g us and more\n", count, 1e-6 * ns, 1e-3 * static_cast<double>(low));
  };
  for (const std::uint64_t bound : bounds) {
    in_band(from, bound);
    from = bound;
  }
  in_band(from, ~std::uint64_t{0});
  constexpr std::size_t shown = 3;
  for (std::size_t i = 0; i < std::min(shown, pauses.size()); ++i) {
    std::fprintf(stderr, "  %10.2f us  between %s and %s\n", 1e-3 * static_cast<double>(pauses[i].ns),
                 pauses[i].before->name.c_str(), pauses[i].after->name.c_str());
  }
}

void report() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard lock(trace.guard);
  std::vector<Event>& events = trace.events;
  if (trace.lost + trace.without_times > 0) {
    std::fprintf(stderr, "cuda_trace: %zu events were lost, %zu have no times\n", trace.lost, trace.without_times);
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
  const char* given = std::getenv("CUDA_TRACE_LOOP");
  const std::string marker = given ? given : "sweep_kernel";
  std::vector<std::size_t> marks;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kernel && events[i].name.find(marker) != std::string::npos) marks.push_back(i);
  }
  if (marks.empty()) {
    std::fprintf(stderr, "cuda_trace: none of %zu events is a kernel with '%s' in its name\n", events.size(),
                 marker.c_str());
    return;
  }
  Chosen inside, outside;
  for (std::size_t i = 0; i < events.size(); ++i)
    (i >= marks.front() && i <= marks.back() ? inside : outside).push_back(&events[i]);
  const std::uint64_t begin = inside.front()->start;
  std::uint64_t end = begin;
  for (const Event* e : inside) end = std::max(end, e->end);
  const std::vector<Pause> pauses = pauses_of(inside);
  const double length = static_cast<double>(end - begin);
  double busy = length;
  for (const Pause& p : pauses) busy -= static_cast<double>(p.ns);
  std::fprintf(stderr, "loop: %zu kernels with '%s' in their names, first to last %.3f ms, GPU busy %.1f %%\n", marks.size(),
               marker.c_str(), 1e-6 * length, 100 * busy / length);
  print_kernels(inside);
  print_copies("copies and clearings in the loop", inside);
  print_pauses(pauses);
  print_copies("copies and clearings before and after it", outside);
  // Two marks are one application of a preconditioner; the round shown is in the middle.
  const std::size_t middle = marks.size() / 4 * 2;
  if (middle + 2 < marks.size()) {
    std::fprintf(stderr, "one round, us from its start:\n");
    for (std::size_t i = marks[middle]; i < marks[middle + 2]; ++i) {
      std::fprintf(stderr, "  %10.2f  %10.2f  %s\n",
                   1e-3 * static_cast<double>(events[i].start - events[marks[middle]].start),
                   1e-3 * static_cast<double>(events[i].end - events[i].start), events[i].name.c_str());
    }
  }
}

}  // namespace

/// Called by the driver when it starts.
extern "C" int InitializeInjection() {
  if (cuptiActivityRegisterCallbacks(requested, completed) != CUPTI_SUCCESS) {
    std::fprintf(stderr, "cuda_trace: CUPTI takes no callbacks\n");
    return 0;
  }
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}) {
    if (cuptiActivityEnable(kind) != CUPTI_SUCCESS) {
      std::fprintf(stderr, "cuda_trace: CUPTI does not record activities of kind %d\n", static_cast<int>(kind));
      return 0;
    }
  }
  std::atexit(report);
  return 1;
}
