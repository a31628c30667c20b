// The kernels of whole sequences on a CPU: a thread of the system for each of a cluster's, and what a warp does together
// done by passing things on through memory. How a warp's threads share rows, weights and sums is as in the manual of the chip.

#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

typedef unsigned short u16;
typedef unsigned int u32;

#define __device__
#define __global__
#define __launch_bounds__(threads)
#define CLUSTER(blocks)

constexpr int THREADS = 128;

struct Index {
    int x, y, z;
};

struct Warp {
    std::barrier<> together{32};
    const u16* places[32];
    u32 rows[32][4], weights[32][2];
};

struct Cluster {
    std::vector<std::vector<u16>> memory;
    std::vector<std::unique_ptr<Warp>> warps;
    std::vector<std::unique_ptr<std::barrier<>>> blocks;
    std::vector<std::atomic<int>> counters, expected;
    std::barrier<> together;
    int least;

    Cluster(int number, int shared, int bytes)
        : memory(number, std::vector<u16>(shared, 0x7fc0)), counters(2 * number), expected(2 * number), together(number * THREADS), least(bytes) {
        for (int warp = 0; warp < number * THREADS / 32; warp++) warps.emplace_back(new Warp);
        for (int block = 0; block < number; block++) blocks.emplace_back(new std::barrier<>(THREADS));
    }
};

thread_local Index threadIdx, blockIdx;
thread_local Cluster* cluster;
thread_local Warp* warp_of;
thread_local int lane_of;

inline float __expf(float x) { return std::exp(x); }

inline float __fdividef(float x, float y) { return x / y; }

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

inline u32 pair_at(const u16* at) { return at[0] | static_cast<u32>(at[1]) << 16; }

inline void put_pair(u16* at, u32 pair) {
    at[0] = static_cast<u16>(pair);
    at[1] = static_cast<u16>(pair >> 16);
}

inline void put_floats(float* at, float first, float second) {
    at[0] = first;
    at[1] = second;
}

inline u32 pair_of(float first, float second) { return rounded(first) | static_cast<u32>(rounded(second)) << 16; }

inline float one_of(u32 pair, int which) { return single(static_cast<u16>(which == 0 ? pair : pair >> 16)); }

inline void load_rows(u32 (&found)[4], const u16* at) {
    warp_of->places[lane_of] = at;
    warp_of->together.arrive_and_wait();
    for (int part = 0; part < 4; part++) found[part] = pair_at(warp_of->places[part * 8 + lane_of / 4] + lane_of % 4 * 2);
    warp_of->together.arrive_and_wait();
}

inline void multiply(float (&sums)[4], const u32 (&rows)[4], const u32 (&weights)[2]) {
    std::memcpy(warp_of->rows[lane_of], rows, sizeof rows);
    std::memcpy(warp_of->weights[lane_of], weights, sizeof weights);
    warp_of->together.arrive_and_wait();
    for (int sum = 0; sum < 4; sum++) {
        int row = lane_of / 4 + sum / 2 * 8, column = lane_of % 4 * 2 + sum % 2;
        for (int term = 0; term < 16; term++) {
            int pair = term % 8 / 2;
            float factor = one_of(warp_of->rows[row % 8 * 4 + pair][row / 8 + term / 8 * 2], term % 2);
            sums[sum] += factor * one_of(warp_of->weights[column * 4 + pair][term / 8], term % 2);
        }
    }
    warp_of->together.arrive_and_wait();
}

inline u16* in_block(u16* own, int block) { return cluster->memory[block].data() + (own - shared_memory()); }

inline void begin() { cluster->together.arrive_and_wait(); }

inline void count(int block, int time, int bytes) { cluster->counters[block * 2 + time % 2].fetch_add(bytes); }

inline void put(u16* own, int block, u32 pair, int time) {
    put_pair(in_block(own, block), pair);
    count(block, time, 4);
}

inline void put_four(u16* own, int block, const u32 (&pairs)[4], int time) {
    for (int place = 0; place < 4; place++) put_pair(in_block(own, block) + 2 * place, pairs[place]);
    count(block, time, 16);
}

inline void expect(int time, int bytes) {
    if (threadIdx.x == 0) cluster->expected[blockIdx.x * 2 + time % 2].fetch_add(bytes);
}

// A turn is over when the block was told what to expect and has it; nothing of the next turn may have come before.
inline void wait_for(int time, int turn) {
    int which = blockIdx.x * 2 + time % 2;
    int all = cluster->least * (turn + 1);
    while (cluster->expected[which].load() < all || cluster->counters[which].load() < all) std::this_thread::yield();
}

// All clusters of a grid, one after another; ``shared`` is how many numbers a block's memory holds, ``bytes`` what it is given
// for a time.
template <class Kernel>
void emulate(int blocks, int tiles, int sequences, int shared, int bytes, Kernel kernel) {
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
        }
    }
}
