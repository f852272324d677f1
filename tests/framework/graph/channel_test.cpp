#include "framework/graph/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace weir::graph {
namespace {

constexpr std::chrono::milliseconds kLong(60000);

bool put(Channel<int>& c, int x) { return c.put(x); }
std::optional<int> take(Channel<int>& c) {
  int x = 0;
  Arrival a = c.take(&x, kLong);
  EXPECT_NE(a, Arrival::none) << "waited for ever";
  return a == Arrival::item ? std::optional<int>(x) : std::nullopt;
}

TEST(Channel, KeepsTheOrder) {
  Channel<int> c(3);
  for (int i = 0; i < 3; i++) EXPECT_TRUE(put(c, i));
  for (int i = 0; i < 3; i++) EXPECT_EQ(take(c), i);
}

TEST(Channel, GivesWhatIsInsideAfterItIsClosed) {
  Channel<int> c(2);
  put(c, 7);
  c.close();
  c.close();
  EXPECT_FALSE(put(c, 8));
  EXPECT_EQ(take(c), 7);
  EXPECT_EQ(take(c), std::nullopt);
}

TEST(Channel, SaysThatNothingCameInTime) {
  Channel<int> c(1);
  int x = 0;
  EXPECT_EQ(c.take(&x, std::chrono::milliseconds(1)), Arrival::none);
}

TEST(Channel, RefusesToHaveNoCredits) { EXPECT_THROW(Channel<int>(0), ValueError); }

TEST(Channel, AnItemThatIsRefusedStays) {
  Channel<std::unique_ptr<int>> c(1);
  c.close();
  auto item = std::make_unique<int>(5);
  EXPECT_FALSE(c.put(item));
  ASSERT_TRUE(item);
}

TEST(Channel, ClosingWakesAProducerWithoutCredit) {
  Channel<int> c(1);
  put(c, 0);
  std::thread producer([&] { EXPECT_FALSE(put(c, 1)); });
  c.close();
  producer.join();
}

// Some work whose length nobody knows.
void dawdle(std::mt19937& random) {
  switch (random() % 4) {
    case 0: std::this_thread::yield(); break;
    case 1: std::this_thread::sleep_for(std::chrono::microseconds(random() % 50)); break;
    default: break;
  }
}

// Chains of stages with any number of threads and credits, with random pauses: every item arrives once, no stage holds more
// than its credits, and nobody waits for ever.
TEST(Channel, NoInterleavingLosesAnItemOrStopsThePipeline) {
  for (unsigned seed = 0; seed < 60; seed++) {
    std::mt19937 random(seed);
    const int producers = 1 + random() % 3, movers = 1 + random() % 3, consumers = 1 + random() % 3, each = 1 + random() % 40;
    Channel<int> first(1 + random() % 3), second(1 + random() % 3);
    std::vector<std::atomic<int>> seen(size_t(producers * each));
    std::atomic<int> held{0}, producing{producers}, moving{movers};
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; p++)
      threads.emplace_back([&, p] {
        std::mt19937 own(seed * 100 + unsigned(p));
        for (int i = 0; i < each; i++) {
          dawdle(own);
          EXPECT_TRUE(put(first, p * each + i));
          held++;
        }
        if (--producing == 0) first.close();
      });
    for (int m = 0; m < movers; m++)
      threads.emplace_back([&, m] {
        std::mt19937 own(seed * 100 + 10 + unsigned(m));
        while (std::optional<int> x = take(first)) {
          held--;
          dawdle(own);
          EXPECT_TRUE(put(second, *x));
        }
        if (--moving == 0) second.close();
      });
    for (int k = 0; k < consumers; k++)
      threads.emplace_back([&, k] {
        std::mt19937 own(seed * 100 + 20 + unsigned(k));
        while (std::optional<int> x = take(second)) {
          dawdle(own);
          seen[size_t(*x)]++;
        }
      });
    for (std::thread& t : threads) t.join();
    for (auto& s : seen) EXPECT_EQ(s, 1) << "seed " << seed;
    EXPECT_EQ(held, 0);
  }
}

// A consumer that goes away in the middle lets producers go too.
TEST(Channel, ClosingInTheMiddleStopsEverybody) {
  for (unsigned seed = 0; seed < 60; seed++) {
    std::mt19937 random(seed);
    Channel<int> c(1 + random() % 3);
    const int stop_after = int(random() % 20);
    std::vector<std::thread> producers;
    std::atomic<int> put_in{0};
    for (unsigned p = 0; p < 3; p++)
      producers.emplace_back([&, p] {
        std::mt19937 own(seed * 10 + p);
        for (int i = 0; put(c, i); i++) put_in++, dawdle(own);
      });
    for (int i = 0; i < stop_after; i++) EXPECT_TRUE(take(c));
    c.close();
    for (std::thread& t : producers) t.join();
    EXPECT_GE(put_in, stop_after);
    EXPECT_LE(put_in, stop_after + int(c.credits()));
  }
}

}  // namespace
}  // namespace weir::graph
