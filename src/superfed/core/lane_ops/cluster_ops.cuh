// What Hopper chips can do and C++ cannot say: products of small matrices by a warp, and memory that a cluster shares.

typedef unsigned short u16;
typedef unsigned int u32;

#define CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)

constexpr int THREADS = 128;  // of a block
constexpr int COUNTERS = 128;  // bytes, so that what comes after them begins a line of memory

__device__ inline u16* shared_memory() {
    extern __shared__ uint4 memory[];
    return reinterpret_cast<u16*>(memory + COUNTERS / 16);
}

// 16 bytes that lie together.
__device__ inline void four_at(u32 (&found)[4], const u16* at) {
    uint4 four = *reinterpret_cast<const uint4*>(at);
    found[0] = four.x;
    found[1] = four.y;
    found[2] = four.z;
    found[3] = four.w;
}

__device__ inline u32 pair_at(const u16* at) {
    return *reinterpret_cast<const u32*>(at);
}

__device__ inline void put_four_in_memory(u16* at, const u32 (&four)[4]) {
    *reinterpret_cast<uint4*>(at) = make_uint4(four[0], four[1], four[2], four[3]);
}

__device__ inline void clear_four(u16* at) {
    *reinterpret_cast<uint4*>(at) = make_uint4(0, 0, 0, 0);
}

// Two neighbours in bfloat16, the first in the lower half.
__device__ inline u32 pair_of(float first, float second) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

__device__ inline float one_of(u32 pair, int which) {
    return __uint_as_float(which == 0 ? pair << 16 : pair & 0xffff0000u);
}

__device__ inline u32 bits_of(float number) {
    return __float_as_uint(number);
}

// The logistic function.
__device__ inline float bent(float x) {
    float power, y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.4426950408889634f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + power));
    return y;
}

// The hyperbolic tangent, to 11 bits.
__device__ inline float bent_both_ways(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Of 8 × 8 numbers in a warp, of which thread 4 i + j has (i, 2 j) and (i, 2 j + 1), it then has (2 j, i) and (2 j + 1, i).
__device__ inline u32 turned_over(u32 pair) {
    u32 turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(pair));
    return turned;
}

// What the four threads have that follow each other from one whose number is a multiple of four.
__device__ inline void of_neighbours(u32 (&found)[4], u32 own) {
    for (int which = 0; which < 4; which++) found[which] = __shfl_sync(0xffffffffu, own, which, 4);
}

__device__ inline u32 address_of(const void* own) {
    return static_cast<u32>(__cvta_generic_to_shared(own));
}

// Four such matrices from shared memory and back, turned over: of the row that lies at the place that thread 8 k + i names
// (matrix k, row i), thread 4 i + j has (2 j, i) and (2 j + 1, i).
__device__ inline void load_turned(u32 (&found)[4], const u16* at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                 : "r"(address_of(at))
                 : "memory");
}

__device__ inline u32 load_one_turned(const u16* at) {
    u32 found;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(found) : "r"(address_of(at)) : "memory");
    return found;
}

__device__ inline void store_turned(u16* at, const u32 (&pairs)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address_of(at)), "r"(pairs[0]),
                 "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
}

// Adds to a warp's 16 × 8 sums the products of 16 rows of weights with 8 columns, 16 terms each.
__device__ inline void multiply(float (&sums)[4], const u32 (&weights)[4], const u32* columns) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]), "r"(columns[0]), "r"(columns[1]));
}

// 16 bytes from main memory into shared memory, while the thread goes on.
__device__ inline void fetch(void* there, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(there)), "l"(from) : "memory");
}

__device__ inline void all_fetched_for_a_time() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until all is there but what was asked for last, so many times over.
template <int LATER>
__device__ inline void wait_for_fetched() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

// Where in another block's shared memory lies what lies at ``own`` in this one's.
__device__ inline u32 in_block(u32 own, int block) {
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(block));
    return there;
}

// A block counts what is written into its memory for even and for odd times; the counters lie before the rest of it.
__device__ inline u32 counter(int time) {
    return address_of(shared_memory()) - COUNTERS + 8 * (time % 2);
}

// Before anything is written: all blocks of the cluster have begun, and their counters are there.
__device__ inline void begin() {
    if (threadIdx.x == 0) {
        for (int which = 0; which < 2; which++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(counter(which)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ inline void put_four(const void* own, int block, const u32 (&four)[4], int time) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     in_block(address_of(own), block)),
                 "r"(four[0]), "r"(four[1]), "r"(four[2]), "r"(four[3]), "r"(in_block(counter(time), block))
                 : "memory");
}

// How many bytes the block will be given for this time.
__device__ inline void expect(int time, int bytes) {
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(counter(time)), "r"(bytes) : "memory");
}

// Until they are there; ``turn`` is how often the counter was waited for before.
__device__ inline void wait_for(int time, int turn) {
    u32 done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(counter(time)), "r"(turn % 2)
                     : "memory");
    __syncwarp();
}
