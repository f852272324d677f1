// Channel: a bounded queue between producers and consumers.
//
// A producer needs a credit for each item and gets it back when the item is taken, so no more items than credits are ever held:
// whoever is faster waits. Safe to be used by any number of threads on both sides. Items come out in the order in which they went in.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "framework/core/error.h"

namespace weir::graph {

enum class Arrival : uint8_t { item, none, closed };

template <class T> class Channel {
 public:
  explicit Channel(size_t credits) : credits_(credits) { check<ValueError>(credits > 0, "a channel needs at least one credit, got 0"); }

  /// Waits for a credit. False when the channel is closed: the item is not taken over.
  bool put(T& item) {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return closed_ || items_.size() < credits_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    arrived_.notify_one();
    return true;
  }

  /// Waits for an item, at most so long. Closed: there is none and none will come.
  Arrival take(T* item, std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, longest, [&] { return closed_ || !items_.empty(); })) return Arrival::none;
    if (items_.empty()) return Arrival::closed;
    *item = std::move(items_.front());
    items_.pop_front();
    returned_.notify_one();
    return Arrival::item;
  }

  /// Nothing goes in any more; what is inside can be taken. Wakes everybody who waits. May be called often.
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
    returned_.notify_all();
  }

  size_t credits() const { return credits_; }

 private:
  const size_t credits_;
  std::mutex mutex_;
  std::condition_variable arrived_, returned_;  // an item; a credit, or the end
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace weir::graph
