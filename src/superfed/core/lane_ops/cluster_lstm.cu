// Whole sequences of LSTM cells in one kernel each way, on chips with clusters of blocks (Hopper and later), in bfloat16.
//
// A cluster has some rows of a lane's batch to itself, from the first time to the last: rows need nothing of each other. Each
// of its blocks has 32 units, and each warp 8 of these; its threads keep their part of the recurrent weights in registers.
// A warp's products give a thread all four gates of one unit in two rows of each eight, so that it computes these cells
// alone; in memory the units of a row are neighbours, and whatever goes there or comes from there is turned over.
//
// What the next time step needs of other units is written into the shared memory of the blocks that need it, and these wait
// until all of it is there. There are two places for it, so that a block that is ahead writes where nobody reads: it has
// what those that read have written after they did. On the way there everyone needs all outputs. On the way back each block
// multiplies the slopes of its own units with the weights of all, and what comes of it for a unit goes to the block that
// has it, which adds up what it is sent: half of what the slopes themselves would be.
//
// While a block waits for others, it writes what is to be kept to main memory, and fetches what it needs some steps later,
// 16 bytes a thread: its threads exchange that through shared memory, whose rows are as long as keeps them in different
// banks. The order of a product's terms is such that what a thread needs of a row, and of the weights, lies in 16 bytes too.
//
// UNITS and ROWS are given by who compiles this, and so are the operations of a chip that C++ has none for: cluster_ops.cuh.

constexpr int EIGHTS = ROWS / 8;                    // of rows
constexpr int OWN = 32;                             // units of a block
constexpr int BLOCKS = UNITS / OWN;
constexpr int GATES = 4 * UNITS;
constexpr int TERMS = UNITS / 32;                   // of a sum on the way there, 32 at a time
constexpr int TILES = UNITS < 64 ? 1 : UNITS / 64;  // of 16 units, for each warp on the way back
constexpr int SPLIT = EIGHTS > 1 ? 1 : 2;           // parts of a sum, since each product waits for the one before it
constexpr int AHEAD = 4;                            // steps

// Lengths of rows in shared memory, in numbers: gates of the block's units as they come and go, those that are multiplied,
// outputs' gradients, and states.
constexpr int PASSING = 4 * OWN + 8, MULTIPLIED = 4 * OWN + 32, OUTER = OWN + 8, STATES = OWN + 8;
constexpr int PART = 2 * EIGHTS * 32 * 4;           // numbers that a block sends to another for a time on the way back

constexpr int PAST = 2 * UNITS * ROWS * 2, STAGED = 2 * ROWS * PASSING * 2, FETCHED_GATES = AHEAD * ROWS * PASSING * 2;
constexpr int SENT = 2 * BLOCKS * PART * 4, SLOPES = 2 * ROWS * MULTIPLIED * 2;
constexpr int FETCHED_OUTER = AHEAD * ROWS * OUTER * 2, FETCHED_STATES = AHEAD * ROWS * STATES * 4;
constexpr int SHARED_FORWARD = PAST + STAGED + FETCHED_GATES;
constexpr int SHARED_BACKWARD = SENT + SLOPES + FETCHED_GATES + FETCHED_OUTER + FETCHED_STATES;
static_assert(SHARED_FORWARD % 16 == 0 && SHARED_BACKWARD % 16 == 0, "16 bytes at once");

// What a thread is: its block and warp, the first of the warp's units, and its place among the warp's threads. On the way
// to and from main memory it has eight units of one gate in one row of each eight, all of them in the block's own order.
struct Place {
    int block, warp, lane, high, low, units, row, gate, eight;
    long long sequence;

    __device__ Place() {
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        high = lane / 4;
        low = lane % 4;
        block = blockIdx.x;
        units = block * OWN + warp * 8;
        row = threadIdx.x / 16;
        gate = threadIdx.x / 4 % 4;
        eight = threadIdx.x % 4;
        sequence = blockIdx.z;
    }

    // Where what it carries is in a row of gates in shared memory, and in main memory.
    __device__ int carried() const { return gate * OWN + eight * 8; }
    __device__ int carried_in_memory() const { return gate * UNITS + block * OWN + eight * 8; }

    // Where its warp's four gates are in rows of shared memory, for a thread that says where one of 32 rows begins.
    __device__ int turned(int eighth, int width) const {
        return (eighth * 8 + lane % 8) * width + lane / 8 * OWN + warp * 8;
    }
};

__device__ inline float bent(float x) {
    return __fdividef(1.0f, 1.0f + __expf(-x));
}

// Where the outputs of eight units in a row are, among those of a time: moved on by two rows from one eight to the next.
__device__ inline int chunk(int eight, int row) {
    return (eight * ROWS + row / 8 * 8 + (row + 2 * eight) % 8) * 8;
}

extern "C" __global__ void CLUSTER(BLOCKS) __launch_bounds__(THREADS) lstm_forward(
    const u16* projected, const u16* weights, u16* gates, float* states, u16* outputs, int times, int rows
) {
    u16* past = shared_memory();                    // [2][chunks]
    u16* staged = past + PAST / 2;                  // [2][ROWS][PASSING]
    u16* fetched = staged + STAGED / 2;             // [AHEAD][ROWS][PASSING]
    Place me;
    const int first = blockIdx.y * ROWS;
    const long long row = me.sequence * times * rows + first;  // the first of the cluster's at the first time

    u32 kept[2][TERMS][2][4];  // two gates at once
    for (int gate = 0; gate < 4; gate++) {
        const u16* own = weights + (me.sequence * GATES + gate * UNITS + me.units + me.high) * UNITS + me.low * 8;
        for (int term = 0; term < TERMS; term++) {
            u32 found[4];
            four_at(found, own + term * 32);
            for (int at = 0; at < 4; at++) kept[gate / 2][term][at / 2][gate % 2 + at % 2 * 2] = found[at];
        }
    }

    auto fetch_for = [&](int time) {
        for (int eighth = 0; eighth < EIGHTS; eighth++) {
            int own = eighth * 8 + me.row;
            if (time < times && first + own < rows)
                fetch(fetched + (time % AHEAD * ROWS + own) * PASSING + me.carried(),
                      projected + (row + static_cast<long long>(time) * rows + own) * GATES + me.carried_in_memory());
        }
        all_fetched_for_a_time();
    };
    for (int slot = 0; slot < AHEAD * EIGHTS; slot++) clear_four(fetched + (slot * 8 + me.row) * PASSING + me.carried());
    for (int time = 0; time < AHEAD; time++) fetch_for(time);

    float state[EIGHTS][2] = {};
    wait_for_fetched<AHEAD - 1>();
    begin();
    for (int time = 0; time < times; time++) {
        u32 given[EIGHTS][4];
        for (int eighth = 0; eighth < EIGHTS; eighth++)
            load_turned(given[eighth], fetched + time % AHEAD * ROWS * PASSING + me.turned(eighth, PASSING));

        float sums[SPLIT][EIGHTS][2][4] = {};
        if (time > 0) {
            wait_for(time - 1, (time - 1) / 2);
            const u16* before = past + (time - 1) % 2 * ROWS * UNITS;
            for (int term = 0; term < TERMS; term++) {
                for (int eighth = 0; eighth < EIGHTS; eighth++) {
                    u32 found[4];
                    four_at(found, before + chunk(term * 4 + me.low, eighth * 8 + me.high));
                    for (int half = 0; half < 2; half++)
                        for (int two = 0; two < 2; two++)
                            multiply(sums[half % SPLIT][eighth][two], kept[two][term][half], found + 2 * half);
                }
            }
        }

        u16* stage = staged + time % 2 * ROWS * PASSING;
        long long now = row + static_cast<long long>(time) * rows;
        for (int eighth = 0; eighth < EIGHTS; eighth++) {
            float values[4][2], out[2];
            for (int j = 0; j < 2; j++) {
                for (int gate = 0; gate < 4; gate++) {
                    float sum = one_of(given[eighth][gate], j);
                    for (int part = 0; part < SPLIT; part++) sum += sums[part][eighth][gate / 2][gate % 2 * 2 + j];
                    values[gate][j] = gate == 2 ? bent_both_ways(sum) : bent(sum);
                }
                state[eighth][j] = values[1][j] * state[eighth][j] + values[0][j] * values[2][j];
                out[j] = values[3][j] * bent_both_ways(state[eighth][j]);
            }
            u32 eight[4];
            of_neighbours(eight, turned_over(pair_of(out[0], out[1])));
            if (time + 1 < times) {
                u16* there = past + time % 2 * ROWS * UNITS + chunk(me.block * 4 + me.warp, eighth * 8 + me.high);
                for (int block = me.low; block < BLOCKS; block += 4) put_four(there, block, eight, time);
            }
            int own = eighth * 8 + me.high;
            if (me.low == 0 && first + own < rows) put_four_in_memory(outputs + (now + own) * UNITS + me.units, eight);
            u32 activated[4];
            for (int gate = 0; gate < 4; gate++) activated[gate] = pair_of(values[gate][0], values[gate][1]);
            store_turned(stage + me.turned(eighth, PASSING), activated);
        }
        if (time + 1 < times) expect(time, ROWS * UNITS * 2);

        for (int eighth = 0; eighth < EIGHTS; eighth++)
            for (int j = 0; j < 2; j++) {
                int own = eighth * 8 + 2 * me.low + j;
                if (first + own < rows) states[(now + own) * UNITS + me.units + me.high] = state[eighth][j];
            }
        wait_for_fetched<AHEAD - 2>();
        __syncthreads();
        for (int eighth = 0; eighth < EIGHTS; eighth++) {
            int own = eighth * 8 + me.row;
            u32 four[4];
            four_at(four, stage + own * PASSING + me.carried());
            if (first + own < rows) put_four_in_memory(gates + (now + own) * GATES + me.carried_in_memory(), four);
        }
        fetch_for(time + AHEAD);
    }
}

extern "C" __global__ void CLUSTER(BLOCKS) __launch_bounds__(THREADS) lstm_backward(
    const u16* gradient, const u16* turned, const u16* gates, const float* states, u16* slopes, int times, int rows
) {
    float* sent = reinterpret_cast<float*>(shared_memory());           // [2][BLOCKS][PART], by who sent it
    u16* own_slopes = shared_memory() + SENT / 2;                      // [2][ROWS][MULTIPLIED]
    u16* fetched = own_slopes + SLOPES / 2;                            // [AHEAD][ROWS][PASSING]
    u16* fetched_outer = fetched + FETCHED_GATES / 2;                  // [AHEAD][ROWS][OUTER]
    float* fetched_states = reinterpret_cast<float*>(fetched_outer + FETCHED_OUTER / 2);  // [AHEAD][ROWS][STATES]
    Place me;
    const int first = blockIdx.y * ROWS;
    const long long row = me.sequence * times * rows + first;
    const int first_tile = me.warp * TILES;
    const bool helps = first_tile * 16 < UNITS;

    u32 kept[TILES][4][2][4];
    for (int tile = 0; tile < TILES; tile++) {
        for (int half = 0; half < 2; half++) {
            int other = helps ? (first_tile + tile) * 16 + half * 8 + me.high : 0;
            const u16* at = turned + (me.sequence * UNITS + other) * GATES + me.block * OWN + me.low * 8;
            for (int gate = 0; gate < 4; gate++) {
                u32 found[4];
                four_at(found, at + gate * UNITS);
                for (int two = 0; two < 4; two++) kept[tile][gate][two / 2][half + two % 2 * 2] = found[two];
            }
        }
    }

    // All threads carry gates; besides, those of the first warp gradients, and those of the next two states.
    auto fetch_for = [&](int time) {
        int slot = (time + AHEAD) % AHEAD;
        long long now = row + static_cast<long long>(time) * rows;
        for (int eighth = 0; eighth < EIGHTS && time >= 0; eighth++) {
            int own = eighth * 8 + me.row;
            if (first + own < rows)
                fetch(fetched + (slot * ROWS + own) * PASSING + me.carried(), gates + (now + own) * GATES + me.carried_in_memory());
            if (me.warp == 0) {
                int outer = eighth * 8 + me.high;
                if (first + outer < rows)
                    fetch(fetched_outer + (slot * ROWS + outer) * OUTER + me.low * 8,
                          gradient + (now + outer) * UNITS + me.block * OWN + me.low * 8);
            } else if (me.warp < 3 && time > 0) {
                int place = threadIdx.x - 32, before = eighth * 8 + place / 8;
                if (first + before < rows)
                    fetch(fetched_states + (slot * ROWS + before) * STATES + place % 8 * 4,
                          states + (now - rows + before) * UNITS + me.block * OWN + place % 8 * 4);
            }
        }
        all_fetched_for_a_time();
    };
    for (int at = threadIdx.x; at < (FETCHED_GATES + FETCHED_OUTER + FETCHED_STATES) / 16; at += THREADS) clear_four(fetched + at * 8);
    __syncthreads();  // since others fetch into what one has cleared
    for (int time = times - 1; time > times - 1 - AHEAD; time--) fetch_for(time);

    float carry[EIGHTS][2] = {}, now[EIGHTS][2];
    for (int eighth = 0; eighth < EIGHTS; eighth++)
        for (int j = 0; j < 2; j++) {
            int own = eighth * 8 + 2 * me.low + j;
            long long last = row + static_cast<long long>(times - 1) * rows + own;
            now[eighth][j] = first + own < rows ? states[last * UNITS + me.units + me.high] : 0.0f;
        }
    wait_for_fetched<AHEAD - 1>();
    begin();
    for (int time = times - 1; time >= 0; time--) {
        u32 activated[EIGHTS][4], of_loss[EIGHTS];
        float earlier[EIGHTS][2], sums[EIGHTS][2] = {};
        for (int eighth = 0; eighth < EIGHTS; eighth++) {
            load_turned(activated[eighth], fetched + time % AHEAD * ROWS * PASSING + me.turned(eighth, PASSING));
            int outer = time % AHEAD * ROWS + eighth * 8;
            of_loss[eighth] = load_one_turned(fetched_outer + (outer + me.lane % 8) * OUTER + me.warp * 8);
            for (int j = 0; j < 2; j++)
                earlier[eighth][j] = time > 0 ? fetched_states[(outer + 2 * me.low + j) * STATES + me.warp * 8 + me.high] : 0.0f;
        }
        if (time < times - 1) {
            wait_for(time + 1, (times - 2 - time) / 2);
            const float* come = sent + (time + 1) % 2 * BLOCKS * PART + me.warp / 2 * EIGHTS * 128 + me.lane * 4 + me.warp % 2 * 2;
            for (int block = 0; block < BLOCKS; block++)
                for (int eighth = 0; eighth < EIGHTS; eighth++)
                    for (int j = 0; j < 2; j++) sums[eighth][j] += come[block * PART + eighth * 128 + j];
        }

        u16* own_now = own_slopes + time % 2 * ROWS * MULTIPLIED;
        for (int eighth = 0; eighth < EIGHTS; eighth++) {
            float slope[4][2];
            for (int j = 0; j < 2; j++) {
                float enter = one_of(activated[eighth][0], j), keep = one_of(activated[eighth][1], j);
                float fresh = one_of(activated[eighth][2], j), leave = one_of(activated[eighth][3], j);
                float curved = bent_both_ways(now[eighth][j]);
                float of_output = one_of(of_loss[eighth], j) + sums[eighth][j];
                float of_state = of_output * leave * (1.0f - curved * curved) + carry[eighth][j];
                carry[eighth][j] = of_state * keep;
                slope[0][j] = of_state * fresh * enter * (1.0f - enter);
                slope[1][j] = of_state * earlier[eighth][j] * keep * (1.0f - keep);
                slope[2][j] = of_state * enter * (1.0f - fresh * fresh);
                slope[3][j] = of_output * curved * leave * (1.0f - leave);
                now[eighth][j] = earlier[eighth][j];
            }
            u32 found[4];
            for (int gate = 0; gate < 4; gate++) found[gate] = pair_of(slope[gate][0], slope[gate][1]);
            store_turned(own_now + me.turned(eighth, MULTIPLIED), found);
        }
        wait_for_fetched<AHEAD - 2>();
        __syncthreads();

        if (time > 0) {
            if (helps) {
                float parts[TILES][EIGHTS][4] = {};
                for (int gate = 0; gate < 4; gate++) {
                    for (int eighth = 0; eighth < EIGHTS; eighth++) {
                        u32 found[4];
                        four_at(found, own_now + (eighth * 8 + me.high) * MULTIPLIED + gate * OWN + me.low * 8);
                        for (int half = 0; half < 2; half++)
                            for (int tile = 0; tile < TILES; tile++)
                                multiply(parts[tile][eighth], kept[tile][gate][half], found + 2 * half);
                    }
                }
                for (int tile = 0; tile < TILES; tile++) {
                    float* there = sent + (time % 2 * BLOCKS + me.block) * PART + (first_tile + tile) % 2 * EIGHTS * 128;
                    for (int eighth = 0; eighth < EIGHTS; eighth++) {
                        u32 bits[4];
                        for (int at = 0; at < 4; at++) bits[at] = bits_of(parts[tile][eighth][at]);
                        put_four(there + eighth * 128 + me.lane * 4, (first_tile + tile) / 2, bits, time);
                    }
                }
            }
            expect(time, BLOCKS * PART * 4);
        }
        for (int eighth = 0; eighth < EIGHTS; eighth++) {
            int own = eighth * 8 + me.row;
            u32 four[4];
            four_at(four, own_now + own * MULTIPLIED + me.carried());
            long long at = row + static_cast<long long>(time) * rows + own;
            if (first + own < rows) put_four_in_memory(slopes + at * GATES + me.carried_in_memory(), four);
        }
        fetch_for(time - AHEAD);
    }
}
