// Whole sequences of LSTM cells in one kernel each way, on chips with clusters of blocks (Hopper and later), in bfloat16.
//
// A cluster has 8 rows of a lane's batch to itself, from the first time to the last: rows need nothing of each other. Each
// of its blocks has 32 units, and each warp 8 of these; its threads keep their part of the recurrent weights in registers.
// A warp's products give a thread all four gates of one unit in two rows, so that it computes these two cells alone; in
// memory the units of a row are neighbours, and whatever goes there or comes from there is turned over.
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
// UNITS is given by who compiles this, and so are the operations of a chip that C++ has none for: cluster_ops.cuh.

constexpr int ROWS = 8;                             // of a cluster
constexpr int OWN = 32;                             // units of a block
constexpr int BLOCKS = UNITS / OWN;
constexpr int GATES = 4 * UNITS;
constexpr int TERMS = UNITS / 32;                   // of a sum on the way there, 32 at a time
constexpr int TILES = UNITS / 64;                   // of 16 units, for each warp on the way back
constexpr int AHEAD = 4;                            // steps

// Lengths of rows in shared memory, in numbers: gates of the block's units as they come and go, those that are multiplied,
// outputs' gradients, and states.
constexpr int PASSING = 4 * OWN + 8, MULTIPLIED = 4 * OWN + 32, OUTER = OWN + 8, STATES = OWN + 8;
constexpr int PART = 2 * 32 * 4;           // numbers that a block sends to another for a time on the way back

constexpr int PAST = 2 * UNITS * ROWS * 2, STAGED = 2 * ROWS * PASSING * 2, FETCHED_GATES = AHEAD * ROWS * PASSING * 2;
constexpr int SENT = 2 * BLOCKS * PART * 4, SLOPES = 2 * ROWS * MULTIPLIED * 2;
constexpr int FETCHED_OUTER = AHEAD * ROWS * OUTER * 2, FETCHED_STATES = AHEAD * ROWS * STATES * 4;
constexpr int SHARED_FORWARD = PAST + STAGED + FETCHED_GATES;
constexpr int SHARED_BACKWARD = SENT + SLOPES + FETCHED_GATES + FETCHED_OUTER + FETCHED_STATES;
static_assert(SHARED_FORWARD + COUNTERS <= 48 * 1024 && SHARED_BACKWARD + COUNTERS <= 48 * 1024, "more has to be asked for");

// What a thread is: its block and warp, the first of the warp's units, and its place among the warp's threads. On the way
// to and from main memory it has eight units of one gate in one row.
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
    __device__ int turned(int width) const { return lane % 8 * width + lane / 8 * OWN + warp * 8; }
};

// Where the outputs of eight units in a row are, among those of a time: moved on by two rows from one eight to the next.
__device__ inline int chunk(int eight, int row) {
    return (eight * ROWS + (row + 2 * eight) % ROWS) * 8;
}

extern "C" __global__ void CLUSTER(BLOCKS) __launch_bounds__(THREADS) lstm_forward(
    const u16* projected, const u16* weights, u16* gates, float* states, u16* outputs, int times, int rows, int stride
) {
    u16* past = shared_memory();         // [2][chunks]
    u16* staged = past + PAST / 2;       // [2][ROWS][PASSING]
    u16* fetched = staged + STAGED / 2;  // [AHEAD][ROWS][PASSING]
    Place me;
    const int first = blockIdx.y * ROWS;
    const long long start = me.sequence * times * rows + first;  // the first of the cluster's rows at the first time
    const bool carries = first + me.row < rows, puts = me.low == 0 && first + me.high < rows;

    u32 kept[2][TERMS][2][4];  // two gates at once
    for (int gate = 0; gate < 4; gate++) {
        const u16* own = weights + me.sequence * stride + (gate * UNITS + me.units + me.high) * UNITS + me.low * 8;
        for (int term = 0; term < TERMS; term++) {
            u32 found[4];
            four_at(found, own + term * 32);
            for (int at = 0; at < 4; at++) kept[gate / 2][term][at / 2][gate % 2 + at % 2 * 2] = found[at];
        }
    }

    // Where it reads and writes in main memory moves on from time to time.
    const long long gates_on = static_cast<long long>(rows) * GATES, units_on = static_cast<long long>(rows) * UNITS;
    const u16* from = projected + (start + me.row) * GATES + me.carried_in_memory();
    u16* to_gates = gates + (start + me.row) * GATES + me.carried_in_memory();
    u16* to_outputs = outputs + (start + me.high) * UNITS + me.units;
    float* to_states = states + (start + 2 * me.low) * UNITS + me.units + me.high;
    u16* into = fetched + me.row * PASSING + me.carried();
    auto fetch_for = [&](int time) {
        if (time < times && carries) fetch(into + time % AHEAD * ROWS * PASSING, from);
        from += gates_on;
        all_fetched_for_a_time();
    };
    for (int slot = 0; slot < AHEAD && !carries; slot++) clear_four(into + slot * ROWS * PASSING);  // nobody fetches that
    for (int time = 0; time < AHEAD; time++) fetch_for(time);

    float state[2] = {};
    const u16* given_at = fetched + me.turned(PASSING);
    u16* staged_at = staged + me.turned(PASSING);
    const u16* carried_at = staged + me.row * PASSING + me.carried();
    wait_for_fetched<AHEAD - 1>();
    begin();
    for (unsigned time = 0; time < times; time++) {
        u32 given[4];
        load_turned(given, given_at + time % AHEAD * ROWS * PASSING);
        float sums[2][2][4] = {};  // in two parts, since each product of a sum waits for the one before it
        for (int at = 0; at < 8; at++) sums[0][at / 4][at % 4] = one_of(given[at / 2], at % 2);
        if (time > 0) {
            wait_for(time - 1, (time - 1) / 2);
            const u16* before = past + (time - 1) % 2 * ROWS * UNITS + chunk(me.low, me.high);
            for (int term = 0; term < TERMS; term++) {
                u32 found[4];
                four_at(found, before + term * 4 * ROWS * 8);
                for (int half = 0; half < 2; half++)
                    for (int two = 0; two < 2; two++) multiply(sums[half][two], kept[two][term][half], found + 2 * half);
            }
        }

        float values[4][2], out[2];
        for (int j = 0; j < 2; j++) {
            for (int gate = 0; gate < 4; gate++) {
                int at = gate % 2 * 2 + j;
                float sum = sums[0][gate / 2][at] + sums[1][gate / 2][at];
                values[gate][j] = gate == 2 ? bent_both_ways(sum) : bent(sum);
            }
            state[j] = values[1][j] * state[j] + values[0][j] * values[2][j];
            out[j] = values[3][j] * bent_both_ways(state[j]);
        }
        u32 eight[4];
        of_neighbours(eight, turned_over(pair_of(out[0], out[1])));
        if (time + 1 < times) {
            u16* there = past + time % 2 * ROWS * UNITS + chunk(me.block * 4 + me.warp, me.high);
            for (int block = me.low; block < BLOCKS; block += 4) put_four(there, block, eight, time);
            expect(time, ROWS * UNITS * 2);
        }

        u32 activated[4];
        for (int gate = 0; gate < 4; gate++) activated[gate] = pair_of(values[gate][0], values[gate][1]);
        store_turned(staged_at + time % 2 * ROWS * PASSING, activated);
        wait_for_fetched<AHEAD - 2>();
        __syncthreads();
        u32 four[4];
        four_at(four, carried_at + time % 2 * ROWS * PASSING);
        if (puts) put_four_in_memory(to_outputs, eight);
        for (int j = 0; j < 2; j++)
            if (first + 2 * me.low + j < rows) to_states[j * UNITS] = state[j];
        fetch_for(time + AHEAD);
        if (carries) put_four_in_memory(to_gates, four);
        to_gates += gates_on;
        to_outputs += units_on;
        to_states += units_on;
    }
}

extern "C" __global__ void CLUSTER(BLOCKS) __launch_bounds__(THREADS) lstm_backward(
    const u16* gradient, const u16* weights, const u16* gates, const float* states, u16* slopes, int times, int rows, int stride
) {
    float* sent = reinterpret_cast<float*>(shared_memory());  // [2][BLOCKS][PART], by who sent it
    u16* own_slopes = shared_memory() + SENT / 2;             // [2][ROWS][MULTIPLIED]
    u16* fetched = own_slopes + SLOPES / 2;                   // [AHEAD][ROWS][PASSING]
    u16* fetched_outer = fetched + FETCHED_GATES / 2;         // [AHEAD][ROWS][OUTER]
    float* fetched_states = reinterpret_cast<float*>(fetched_outer + FETCHED_OUTER / 2);  // [AHEAD][ROWS][STATES]
    Place me;
    const int first = blockIdx.y * ROWS;
    const long long start = me.sequence * times * rows + first;
    const bool carries = first + me.row < rows;
    const int first_tile = me.warp * TILES;

    u32 kept[TILES][4][2][4];
    for (int tile = 0; tile < TILES; tile++) {
        for (int half = 0; half < 2; half++) {
            const u16* at = weights + me.sequence * stride + (first_tile + tile) * 16 + half * 8 + 2 * me.low;
            for (int gate = 0; gate < 4; gate++) {
                for (int two = 0; two < 4; two++) {  // eight units of which a thread's two are neighbours once they are turned over
                    int unit = me.block * OWN + me.high / 2 * 8 + two * 2 + me.high % 2;
                    kept[tile][gate][two / 2][half + two % 2 * 2] = turned_over(pair_at(at + (gate * UNITS + unit) * UNITS));
                }
            }
        }
    }

    // All threads carry gates; besides, those of the first warp gradients, and those of the next two states, of which the one
    // before the first time is not there. Where it reads and writes in main memory goes back from time to time.
    const long long gates_on = static_cast<long long>(rows) * GATES, units_on = static_cast<long long>(rows) * UNITS;
    const long long end = start + static_cast<long long>(times - 1) * rows;
    const u16* from = gates + (end + me.row) * GATES + me.carried_in_memory();
    u16* to = slopes + (end + me.row) * GATES + me.carried_in_memory();
    u16* into = fetched + me.row * PASSING + me.carried();
    const int place = threadIdx.x - 32, earliest = me.warp == 0 ? 0 : 1;
    const char* from_more = me.warp == 0
        ? reinterpret_cast<const char*>(gradient + (end + me.high) * UNITS + me.block * OWN + me.low * 8)
        : reinterpret_cast<const char*>(states + (end - rows + place / 8) * UNITS + me.block * OWN + place % 8 * 4);
    char* into_more = me.warp == 0 ? reinterpret_cast<char*>(fetched_outer + me.high * OUTER + me.low * 8)
                                   : reinterpret_cast<char*>(fetched_states + place / 8 * STATES + place % 8 * 4);
    const int more_on = me.warp == 0 ? ROWS * OUTER * 2 : ROWS * STATES * 4;
    const bool carries_more = me.warp < 3 && first + (me.warp == 0 ? me.high : place / 8) < rows;
    auto fetch_for = [&](int time) {
        int slot = (time + AHEAD) % AHEAD;
        if (time >= 0 && carries) fetch(into + slot * ROWS * PASSING, from);
        if (time >= earliest && carries_more) fetch(into_more + slot * more_on, from_more);
        from -= gates_on;
        from_more -= units_on * (me.warp == 0 ? 2 : 4);
        all_fetched_for_a_time();
    };
    for (int at = threadIdx.x; at < (FETCHED_GATES + FETCHED_OUTER + FETCHED_STATES) / 16; at += THREADS)
        clear_four(fetched + at * 8);
    __syncthreads();  // since others fetch into what one has cleared
    for (int time = times - 1; time > times - 1 - AHEAD; time--) fetch_for(time);

    float carry[2] = {}, now[2];
    for (int j = 0; j < 2; j++) {
        int row = 2 * me.low + j;
        now[j] = first + row < rows ? states[(end + row) * UNITS + me.units + me.high] : 0.0f;
    }
    wait_for_fetched<AHEAD - 1>();
    begin();
    for (int time = times - 1; time >= 0; time--) {
        int slot = time % AHEAD * ROWS;
        u32 activated[4];
        load_turned(activated, fetched + slot * PASSING + me.turned(PASSING));
        u32 of_loss = load_one_turned(fetched_outer + (slot + me.lane % 8) * OUTER + me.warp * 8);
        float earlier[2], sums[2] = {};
        for (int j = 0; j < 2; j++)
            earlier[j] = time > 0 ? fetched_states[(slot + 2 * me.low + j) * STATES + me.warp * 8 + me.high] : 0.0f;
        if (time < times - 1) {
            wait_for(time + 1, (times - 2 - time) / 2);
            const float* come = sent + (time + 1) % 2 * BLOCKS * PART + (me.warp / 2 * 32 + me.lane) * 4 + me.warp % 2 * 2;
            for (int block = 0; block < BLOCKS; block++)
                for (int j = 0; j < 2; j++) sums[j] += come[block * PART + j];
        }

        float slope[4][2];
        for (int j = 0; j < 2; j++) {
            float enter = one_of(activated[0], j), keep = one_of(activated[1], j);
            float fresh = one_of(activated[2], j), leave = one_of(activated[3], j);
            float curved = bent_both_ways(now[j]);
            float of_output = one_of(of_loss, j) + sums[j];
            float of_state = of_output * leave * (1.0f - curved * curved) + carry[j];
            carry[j] = of_state * keep;
            slope[0][j] = of_state * fresh * enter * (1.0f - enter);
            slope[1][j] = of_state * earlier[j] * keep * (1.0f - keep);
            slope[2][j] = of_state * enter * (1.0f - fresh * fresh);
            slope[3][j] = of_output * curved * leave * (1.0f - leave);
            now[j] = earlier[j];
        }
        u16* own = own_slopes + time % 2 * ROWS * MULTIPLIED;
        u32 found[4];
        for (int gate = 0; gate < 4; gate++) found[gate] = pair_of(slope[gate][0], slope[gate][1]);
        store_turned(own + me.turned(MULTIPLIED), found);
        wait_for_fetched<AHEAD - 2>();
        __syncthreads();

        if (time > 0) {
            float parts[TILES][4] = {};
            for (int gate = 0; gate < 4; gate++) {
                u32 eight[4];
                four_at(eight, own + me.high * MULTIPLIED + gate * OWN + me.low * 8);
                for (int half = 0; half < 2; half++)
                    for (int tile = 0; tile < TILES; tile++) multiply(parts[tile], kept[tile][gate][half], eight + 2 * half);
            }
            for (int tile = 0; tile < TILES; tile++) {
                float* there = sent + (time % 2 * BLOCKS + me.block) * PART + ((first_tile + tile) % 2 * 32 + me.lane) * 4;
                u32 bits[4];
                for (int at = 0; at < 4; at++) bits[at] = bits_of(parts[tile][at]);
                put_four(there, (first_tile + tile) / 2, bits, time);
            }
            expect(time, BLOCKS * PART * 4);
        }
        u32 four[4];
        four_at(four, own + me.row * MULTIPLIED + me.carried());
        fetch_for(time - AHEAD);
        if (carries) put_four_in_memory(to, four);
        to -= gates_on;
    }
}
