// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/threaded_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace echelon::test {
namespace {

struct Letter {
  int from, tag;
  std::vector<std::byte> bytes;
  int unseen;  // how many looks of its receiver it stays hidden for
};

struct Mailbox {
  std::mutex mutex;
  std::deque<Letter> letters;
};

struct Receive {
  int from, tag;
  std::byte* data;
  std::size_t bytes;
};

struct End {
  int rank;
  std::vector<Mailbox>* boxes;
  std::mt19937_64 delays;
  std::deque<Receive> receives;  // in the order they were posted; taken[i]: complete
  std::vector<int> finished;     // handles of receives that were served
  int posted = 0;
  std::deque<int> handles;  // of `receives`
};

constexpr int sent = 0;  // the handle of every send: its bytes are in the mailbox already

End& of(void* endpoint) { return *static_cast<End*>(endpoint); }

/// Letters of one sender with one tag stay in order: a hidden one hides those behind it.
std::deque<Letter>::iterator visible(std::deque<Letter>& letters, int from, int tag) {
  for (auto letter = letters.begin(); letter != letters.end(); ++letter) {
    if (letter->tag != tag || (from >= 0 && letter->from != from)) continue;
    if (letter->unseen > 0) {
      --letter->unseen;
      if (from >= 0) return letters.end();
      continue;
    }
    const auto earlier = [&](const Letter& other) { return other.from == letter->from && other.tag == tag; };
    if (std::find_if(letters.begin(), letter, earlier) == letter) return letter;
  }
  return letters.end();
}

/// Receives of one sender and tag are served in the order they were posted.
void serve(End& end) {
  auto& box = (*end.boxes)[static_cast<std::size_t>(end.rank)];
  const std::lock_guard lock(box.mutex);
  for (std::size_t i = 0; i < end.receives.size();) {
    const auto wanted = end.receives[i];
    const auto earlier = [&](const Receive& other) { return other.from == wanted.from && other.tag == wanted.tag; };
    const auto position = end.receives.begin() + static_cast<std::ptrdiff_t>(i);
    const auto letter = std::find_if(end.receives.begin(), position, earlier) == position
                            ? visible(box.letters, wanted.from, wanted.tag)
                            : box.letters.end();
    if (letter == box.letters.end()) {
      ++i;
      continue;
    }
    if (letter->bytes.size() > wanted.bytes) throw std::logic_error("rank " + std::to_string(end.rank) + " receives " + std::to_string(wanted.bytes) + " bytes from " + std::to_string(wanted.from) + " with tag " + std::to_string(wanted.tag) + ", which sent " + std::to_string(letter->bytes.size()));
    if (!letter->bytes.empty()) std::memcpy(wanted.data, letter->bytes.data(), letter->bytes.size());
    box.letters.erase(letter);
    end.finished.push_back(end.handles[i]);
    end.receives.erase(position);
    end.handles.erase(end.handles.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

int send(void* endpoint, int to, int tag, const void* data, int bytes) {
  auto& end = of(endpoint);
  const auto* begin = static_cast<const std::byte*>(data);
  Letter letter{end.rank, tag, {begin, begin + bytes}, static_cast<int>(end.delays() % 4)};
  auto& box = (*end.boxes)[static_cast<std::size_t>(to)];
  const std::lock_guard lock(box.mutex);
  box.letters.push_back(std::move(letter));
  return sent;
}

int receive(void* endpoint, int from, int tag, void* data, int bytes) {
  auto& end = of(endpoint);
  end.receives.push_back({from, tag, static_cast<std::byte*>(data), static_cast<std::size_t>(bytes)});
  end.handles.push_back(++end.posted);
  return end.posted;
}

int done(void* endpoint, int handle) {
  auto& end = of(endpoint);
  serve(end);
  return handle == sent || std::erase(end.finished, handle) > 0;
}

void drop(void* endpoint, int handle) {
  auto& end = of(endpoint);
  const auto at = std::ranges::find(end.handles, handle);
  if (at != end.handles.end()) {
    end.receives.erase(end.receives.begin() + (at - end.handles.begin()));
    end.handles.erase(at);
  }
  std::erase(end.finished, handle);
}

int waiting(void* endpoint, int tag, int* bytes) {
  auto& end = of(endpoint);
  auto& box = (*end.boxes)[static_cast<std::size_t>(end.rank)];
  const std::lock_guard lock(box.mutex);
  const auto letter = visible(box.letters, -1, tag);
  if (letter == box.letters.end()) return -1;
  *bytes = static_cast<int>(letter->bytes.size());
  return letter->from;
}

const MessageTable table = {
    [](void* endpoint) { return of(endpoint).rank; },
    [](void* endpoint) { return static_cast<int>(of(endpoint).boxes->size()); },
    [](void* endpoint) { return static_cast<int>(of(endpoint).boxes->size()); },
    send,
    receive,
    done,
    drop,
    waiting,
    [](void*) {},
};

}  // namespace

void run_ranks(int count, const std::function<void(const Communicator&)>& work, std::uint64_t seed, double patience) {
  std::vector<Mailbox> boxes(static_cast<std::size_t>(count));
  std::deque<End> ends;
  for (int rank = 0; rank < count; ++rank) {
    ends.push_back({rank, &boxes, std::mt19937_64(seed * 1000 + static_cast<std::uint64_t>(rank)), {}, {}, 0, {}});
  }
  std::vector<std::jthread> threads;
  for (auto& end : ends) {
    threads.emplace_back([&] {
      const Ranks ranks(table, &end, patience);
      work(ranks);
    });
  }
}

}  // namespace echelon::test
