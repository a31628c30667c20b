// Whole sequences of LSTM cells in one kernel each way, on chips with clusters of blocks (Hopper and later), in bfloat16.
//
// A cluster has 16 rows of a lane's batch to itself, from the first time to the last: rows need nothing of each other.
// Each of its blocks has 32 units, and each warp 8 of these; a thread keeps its part of the recurrent weights in registers,
// all four gates of the same cells, and the cells' states. What the next time step needs of other units every block
// writes into the shared memory of all blocks of its cluster, which wait until all of it is there. There are two places for
// it, so that a block that is ahead writes where nobody reads: it has what those that read have written after they did.
//
// UNITS is given by who compiles this, and so are the operations of a chip that C++ has none for: cluster_ops.cuh.

constexpr int ROWS = 16;
constexpr int OWN = 32;
constexpr int BLOCKS = UNITS / OWN;
constexpr int GATES = 4 * UNITS;
constexpr int PAD = 8;  // keeps rows that are read together in different banks
constexpr int TERMS = UNITS / 16;

// What a thread is: where it is in a cluster, its two rows (the second is 8 further on), and the first of its two units.
struct Place {
    int block, warp, lane, row, unit, column, group;
    long long sequence;

    __device__ Place() {
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        block = blockIdx.x;
        group = block * OWN + warp * 8 + lane / 4;  // the unit whose weights it keeps on the way there
        column = 2 * (lane % 4);
        unit = block * OWN + warp * 8 + column;
        row = blockIdx.y * ROWS + lane / 4;
        sequence = blockIdx.z;
    }
};

__device__ inline float bent(float x) {
    return __fdividef(1.0f, 1.0f + __expf(-x));
}

__device__ inline float bent_both_ways(float x) {
    return 2.0f * bent(2.0f * x) - 1.0f;
}

extern "C" __global__ void CLUSTER(BLOCKS) __launch_bounds__(128) lstm_forward(
    const u16* projected, const u16* weights, u16* gates, float* states, u16* outputs, int times, int rows
) {
    constexpr int WIDTH = UNITS + PAD;
    u16* past = shared_memory();  // [2][ROWS][WIDTH]
    Place me;

    u32 kept[4][TERMS][2];
    for (int gate = 0; gate < 4; gate++) {
        const u16* own = weights + (me.sequence * GATES + gate * UNITS + me.group) * UNITS + me.column;
        for (int term = 0; term < TERMS; term++) {
            kept[gate][term][0] = pair_at(own + term * 16);
            kept[gate][term][1] = pair_at(own + term * 16 + 8);
        }
    }

    u32 given[2][4];
    auto look_ahead = [&](int time) {
        for (int half = 0; half < 2; half++) {
            int row = me.row + 8 * half;
            const u16* at = projected + ((me.sequence * times + time) * rows + row) * GATES + me.unit;
            for (int gate = 0; gate < 4; gate++) given[half][gate] = row < rows ? pair_at(at + gate * UNITS) : 0;
        }
    };

    float state[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
    look_ahead(0);
    begin();
    for (int time = 0; time < times; time++) {
        float sums[2][4][4] = {};  // in two parts, since each product of a sum waits for the one before it
        if (time > 0) {
            const u16* before = past + ((time - 1) % 2) * ROWS * WIDTH + (me.lane % 16) * WIDTH + (me.lane / 16) * 8;
            for (int term = 0; term < TERMS; term++) {
                u32 rows_of[4];
                load_rows(rows_of, before + term * 16);
                for (int gate = 0; gate < 4; gate++) multiply(sums[term % 2][gate], rows_of, kept[gate][term]);
            }
        }
        u32 activated[2][4], left[2];
        for (int half = 0; half < 2; half++) {
            float values[4][2], out[2];
            for (int j = 0; j < 2; j++) {
                for (int gate = 0; gate < 4; gate++) {
                    float sum = sums[0][gate][2 * half + j] + sums[1][gate][2 * half + j] + one_of(given[half][gate], j);
                    values[gate][j] = gate == 2 ? bent_both_ways(sum) : bent(sum);
                }
                state[half][j] = values[1][j] * state[half][j] + values[0][j] * values[2][j];
                out[j] = values[3][j] * bent_both_ways(state[half][j]);
            }
            for (int gate = 0; gate < 4; gate++) activated[half][gate] = pair_of(values[gate][0], values[gate][1]);
            left[half] = pair_of(out[0], out[1]);
            u16* now = past + (time % 2) * ROWS * WIDTH + (me.lane / 4 + 8 * half) * WIDTH + me.unit;
            for (int block = 0; block < BLOCKS; block++) put(now, block, left[half], time);
        }
        expect(time, ROWS * UNITS * 2);
        for (int half = 0; half < 2; half++) {
            int row = me.row + 8 * half;
            if (row >= rows) continue;
            long long cell = (me.sequence * times + time) * rows + row;
            for (int gate = 0; gate < 4; gate++) put_pair(gates + cell * GATES + gate * UNITS + me.unit, activated[half][gate]);
            put_floats(states + cell * UNITS + me.unit, state[half][0], state[half][1]);
            put_pair(outputs + cell * UNITS + me.unit, left[half]);
        }
        if (time + 1 < times) look_ahead(time + 1);
        wait_for(time, time / 2);
    }
}

extern "C" __global__ void CLUSTER(BLOCKS) __launch_bounds__(128) lstm_backward(
    const u16* gradient, const u16* turned, const u16* gates, const float* states, u16* slopes, int times, int rows
) {
    // In shared memory the four gates of two units are neighbours, as a thread finds them: it writes 16 bytes at once.
    // Each warp takes a quarter of the terms for all units of its block, so that it reads no more than these, and the four
    // sums are added up.
    constexpr int WIDTH = GATES + PAD, PART = OWN + PAD;
    u16* after = shared_memory();  // [2][ROWS][WIDTH]
    float* parts = reinterpret_cast<float*>(after + 2 * ROWS * WIDTH);  // [4][ROWS][PART]
    Place me;

    u32 kept[4][TERMS][2];
    for (int eight = 0; eight < 4; eight++) {
        int unit = me.block * OWN + eight * 8 + me.lane / 4;
        const u16* own = turned + (me.sequence * UNITS + unit) * GATES + (me.lane % 4) * UNITS + me.warp * TERMS * 4;
        for (int term = 0; term < TERMS; term++) {
            kept[eight][term][0] = pair_at(own + term * 4);
            kept[eight][term][1] = pair_at(own + term * 4 + 2);
        }
    }

    u32 of_loss[2], activated[2][4];
    float earlier[2][2], now[2][2];
    auto look_ahead = [&](int time) {
        for (int half = 0; half < 2; half++) {
            int row = me.row + 8 * half;
            bool there = row < rows;
            long long cell = (me.sequence * times + time) * rows + row;
            of_loss[half] = there ? pair_at(gradient + cell * UNITS + me.unit) : 0;
            for (int gate = 0; gate < 4; gate++)
                activated[half][gate] = there ? pair_at(gates + cell * GATES + gate * UNITS + me.unit) : 0;
            const float* before = states + (cell - rows) * UNITS + me.unit;
            for (int j = 0; j < 2; j++) earlier[half][j] = there && time > 0 ? before[j] : 0.0f;
        }
    };
    for (int half = 0; half < 2; half++) {
        int row = me.row + 8 * half;
        long long cell = (me.sequence * times + times - 1) * rows + row;
        for (int j = 0; j < 2; j++) now[half][j] = row < rows ? states[cell * UNITS + me.unit + j] : 0.0f;
    }

    float carry[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
    look_ahead(times - 1);
    begin();
    for (int time = times - 1; time >= 0; time--) {
        float sums[4] = {};
        if (time < times - 1) {
            float own[4][4] = {};
            const u16* later = after + ((time + 1) % 2) * ROWS * WIDTH + (me.lane % 16) * WIDTH + (me.lane / 16) * 8;
            for (int term = 0; term < TERMS; term++) {
                u32 rows_of[4];
                load_rows(rows_of, later + (me.warp * TERMS + term) * 16);
                for (int eight = 0; eight < 4; eight++) multiply(own[eight], rows_of, kept[eight][term]);
            }
            float* part = parts + me.lane / 4 * PART + me.column;
            for (int eight = 0; eight < 4; eight++) {
                for (int half = 0; half < 2; half++)
                    put_floats(part + (me.warp * ROWS + 8 * half) * PART + eight * 8, own[eight][2 * half], own[eight][2 * half + 1]);
            }
            __syncthreads();
            for (int warp = 0; warp < 4; warp++) {
                for (int at = 0; at < 4; at++) sums[at] += part[(warp * ROWS + at / 2 * 8) * PART + me.warp * 8 + at % 2];
            }
        }
        u32 found[2][4];
        for (int half = 0; half < 2; half++) {
            float slope[4][2];
            for (int j = 0; j < 2; j++) {
                int at = 2 * half + j;
                float enter = one_of(activated[half][0], j), keep = one_of(activated[half][1], j);
                float fresh = one_of(activated[half][2], j), leave = one_of(activated[half][3], j);
                float curved = bent_both_ways(now[half][j]);
                float of_output = one_of(of_loss[half], j) + sums[at];
                float of_state = of_output * leave * (1.0f - curved * curved) + carry[half][j];
                carry[half][j] = of_state * keep;
                slope[0][j] = of_state * fresh * enter * (1.0f - enter);
                slope[1][j] = of_state * earlier[half][j] * keep * (1.0f - keep);
                slope[2][j] = of_state * enter * (1.0f - fresh * fresh);
                slope[3][j] = of_output * curved * leave * (1.0f - leave);
                now[half][j] = earlier[half][j];
            }
            for (int gate = 0; gate < 4; gate++) found[half][gate] = pair_of(slope[gate][0], slope[gate][1]);
            u16* here = after + (time % 2) * ROWS * WIDTH + (me.lane / 4 + 8 * half) * WIDTH + me.unit * 4;
            for (int block = 0; block < BLOCKS; block++) put_four(here, block, found[half], time);
        }
        expect(time, ROWS * GATES * 2);
        for (int half = 0; half < 2; half++) {
            int row = me.row + 8 * half;
            if (row >= rows) continue;
            u16* at = slopes + ((me.sequence * times + time) * rows + row) * GATES + me.unit;
            for (int gate = 0; gate < 4; gate++) put_pair(at + gate * UNITS, found[half][gate]);
        }
        if (time > 0) look_ahead(time - 1);
        wait_for(time, (times - 1 - time) / 2);
    }
}
