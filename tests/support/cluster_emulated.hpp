// The kernels of whole sequences on a CPU: a thread of the system for each of a cluster's, and what a warp does together
// done by passing things on through memory. How a warp's threads share rows, weights and sums is as in the manual of the chip.

#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

typedef unsigned short u16;
typedef unsigned int u32;

#define __device__
#define __global__
#define __launch_bounds__(threads)
#define CLUSTER(blocks)

constexpr int THREADS = 128, COUNTERS = 0;

struct Index {
    int x, y, z;
};

struct Warp {
    std::barrier<> together{32};
    u32 of_each[32], weights[32][4], columns[32][2];
    u16* places[32];
};

struct Cluster {
    std::vector<std::vector<u16>> memory;
    std::vector<std::unique_ptr<Warp>> warps;
    std::vector<std::unique_ptr<std::barrier<>>> blocks;
    std::vector<std::atomic<int>> counters, expected, turns;
    std::barrier<> together;
    int least;

    Cluster(int number, int shared, int bytes)
        : memory(number, std::vector<u16>(shared / 2, 0x7fc0)), counters(2 * number), expected(2 * number), turns(2 * number), together(number * THREADS), least(bytes) {
        for (int warp = 0; warp < number * THREADS / 32; warp++) warps.emplace_back(new Warp);
        for (int block = 0; block < number; block++) blocks.emplace_back(new std::barrier<>(THREADS));
    }
};

thread_local Index threadIdx, blockIdx;
thread_local Cluster* cluster;
thread_local Warp* warp_of;
thread_local int lane_of;

inline void __syncwarp() {}

inline void __syncthreads() { cluster->blocks[blockIdx.x]->arrive_and_wait(); }

inline u16* shared_memory() { return cluster->memory[blockIdx.x].data(); }

inline float single(u16 half) {
    u32 bits = static_cast<u32>(half) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

inline u16 rounded(float value) {
    u32 bits;
    std::memcpy(&bits, &value, 4);
    return static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline void four_at(u32 (&found)[4], const u16* at) { std::memcpy(found, at, sizeof found); }

inline u32 pair_at(const u16* at) { return at[0] | static_cast<u32>(at[1]) << 16; }

inline void put_four_in_memory(u16* at, const u32 (&four)[4]) { std::memcpy(at, four, sizeof four); }

inline void clear_four(u16* at) { std::memset(at, 0, 16); }

inline u32 pair_of(float first, float second) { return rounded(first) | static_cast<u32>(rounded(second)) << 16; }

inline float one_of(u32 pair, int which) { return single(static_cast<u16>(which == 0 ? pair : pair >> 16)); }

inline u32 bits_of(float number) {
    u32 bits;
    std::memcpy(&bits, &number, 4);
    return bits;
}

inline float bent(float x) { return 1.0f / (1.0f + std::exp(-x)); }

inline float bent_both_ways(float x) { return std::tanh(x); }

// Calls ``take`` where it can see what all threads of a warp have.
template <class Take>
void shown_to_all(u32 own, Take take) {
    warp_of->of_each[lane_of] = own;
    warp_of->together.arrive_and_wait();
    take(warp_of->of_each);
    warp_of->together.arrive_and_wait();
}

inline u32 turned_over(u32 pair) {
    u32 turned;
    shown_to_all(pair, [&](const u32* pairs) {
        auto number = [&](int row, int column) { return pairs[row * 4 + column / 2] >> column % 2 * 16 & 0xffff; };
        turned = number(lane_of % 4 * 2, lane_of / 4) | number(lane_of % 4 * 2 + 1, lane_of / 4) << 16;
    });
    return turned;
}

inline void of_neighbours(u32 (&found)[4], u32 own) {
    shown_to_all(own, [&](const u32* all) { std::memcpy(found, all + lane_of / 4 * 4, sizeof found); });
}

// The places that a warp's threads name.
template <class Use>
void named_by_all(const u16* at, Use use) {
    warp_of->places[lane_of] = const_cast<u16*>(at);
    warp_of->together.arrive_and_wait();
    use(warp_of->places);
    warp_of->together.arrive_and_wait();
}

inline void load_turned(u32 (&found)[4], const u16* at) {
    named_by_all(at, [&](u16** rows) {
        for (int matrix = 0; matrix < 4; matrix++) {
            u16** two = rows + matrix * 8 + lane_of % 4 * 2;
            found[matrix] = two[0][lane_of / 4] | static_cast<u32>(two[1][lane_of / 4]) << 16;
        }
    });
}

inline u32 load_one_turned(const u16* at) {
    u32 found;
    named_by_all(at, [&](u16** rows) {
        u16** two = rows + lane_of % 4 * 2;
        found = two[0][lane_of / 4] | static_cast<u32>(two[1][lane_of / 4]) << 16;
    });
    return found;
}

inline void store_turned(u16* at, const u32 (&pairs)[4]) {
    named_by_all(at, [&](u16** rows) {
        for (int matrix = 0; matrix < 4; matrix++) {
            u16** two = rows + matrix * 8 + lane_of % 4 * 2;
            for (int which = 0; which < 2; which++) two[which][lane_of / 4] = static_cast<u16>(pairs[matrix] >> 16 * which);
        }
    });
}

inline void multiply(float (&sums)[4], const u32 (&weights)[4], const u32* columns) {
    std::memcpy(warp_of->weights[lane_of], weights, sizeof weights);
    std::memcpy(warp_of->columns[lane_of], columns, 2 * sizeof *columns);
    warp_of->together.arrive_and_wait();
    for (int sum = 0; sum < 4; sum++) {
        int row = lane_of / 4 + sum / 2 * 8, column = lane_of % 4 * 2 + sum % 2;
        for (int term = 0; term < 16; term++) {
            int pair = term % 8 / 2;
            float factor = one_of(warp_of->weights[row % 8 * 4 + pair][row / 8 + term / 8 * 2], term % 2);
            sums[sum] += factor * one_of(warp_of->columns[column * 4 + pair][term / 8], term % 2);
        }
    }
    warp_of->together.arrive_and_wait();
}

// Main memory that may be fetched from, and whether anything was done that a chip would not forgive.
std::vector<std::pair<const char*, const char*>> tensors;
std::atomic<bool> fault;

inline void tensor(const void* at, long long bytes) {
    tensors.emplace_back(static_cast<const char*>(at), static_cast<const char*>(at) + bytes);
}

inline bool in_a_tensor(const void* at, int bytes) {
    const char* first = static_cast<const char*>(at);
    for (auto [begin, end] : tensors)
        if (first >= begin && first + bytes <= end) return true;
    return false;
}

// What is fetched comes as late as it may: when it is waited for.
struct Fetched {
    void* there;
    const void* from;
};

thread_local std::vector<Fetched> asked_for;
thread_local std::deque<std::vector<Fetched>> under_way;

inline void fetch(void* there, const void* from) {
    if (in_a_tensor(from, 16)) asked_for.push_back({there, from});
    else fault = true;
}

inline void all_fetched_for_a_time() { under_way.push_back(std::exchange(asked_for, {})); }

template <int LATER>
void wait_for_fetched() {
    for (; under_way.size() > LATER; under_way.pop_front())
        for (const Fetched& one : under_way.front()) std::memcpy(one.there, one.from, 16);
}

inline void begin() { cluster->together.arrive_and_wait(); }

inline void count(int block, int time, int bytes) { cluster->counters[block * 2 + time % 2].fetch_add(bytes); }

inline void put_four(const void* own, int block, const u32 (&four)[4], int time) {
    std::memcpy(cluster->memory[block].data() + (static_cast<const u16*>(own) - shared_memory()), four, sizeof four);
    count(block, time, sizeof four);
}

inline void expect(int time, int bytes) {
    if (threadIdx.x == 0) cluster->expected[blockIdx.x * 2 + time % 2].fetch_add(bytes);
}

// A turn is over when the block was told what to expect and has it; nothing of the next turn may have come before.
inline void wait_for(int time, int turn) {
    int which = blockIdx.x * 2 + time % 2;
    int all = cluster->least * (turn + 1);
    while (cluster->expected[which].load() < all || cluster->counters[which].load() < all) std::this_thread::yield();
    if (cluster->counters[which].load() > all) std::abort();
    if (threadIdx.x == 0) cluster->turns[which] = turn + 1;
}

// All clusters of a grid, one after another; ``shared`` is how many bytes a block's memory has, ``bytes`` what it is given for a
// time. Whether all went as it may.
template <class Kernel>
bool emulate(int blocks, int tiles, int sequences, int shared, int bytes, Kernel kernel) {
    fault = false;
    for (int sequence = 0; sequence < sequences; sequence++) {
        for (int tile = 0; tile < tiles; tile++) {
            Cluster here(blocks, shared, bytes);
            std::vector<std::thread> threads;
            for (int number = 0; number < blocks * THREADS; number++) {
                threads.emplace_back([&, number] {
                    threadIdx = {number % THREADS, 0, 0};
                    blockIdx = {number / THREADS, tile, sequence};
                    cluster = &here;
                    warp_of = here.warps[number / 32].get();
                    lane_of = number % 32;
                    kernel();
                });
            }
            for (std::thread& one : threads) one.join();
            // Who writes to a block that waits for nothing any more may find it gone.
            for (int which = 0; which < 2 * blocks; which++)
                if (here.counters[which] != bytes * here.turns[which]) fault = true;
        }
    }
    tensors.clear();
    return !fault;
}
