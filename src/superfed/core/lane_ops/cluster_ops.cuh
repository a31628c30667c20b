// What Hopper chips can do and C++ cannot say: products of small matrices by a warp, and memory that a cluster shares.

typedef unsigned short u16;
typedef unsigned int u32;

#define CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)

constexpr int COUNTERS = 16;  // bytes

__device__ inline u16* shared_memory() {
    extern __shared__ uint4 memory[];
    return reinterpret_cast<u16*>(memory + COUNTERS / 16);
}

// Two neighbours in bfloat16, the first in the lower half.
__device__ inline u32 pair_at(const u16* at) {
    return *reinterpret_cast<const u32*>(at);
}

__device__ inline void put_pair(u16* at, u32 pair) {
    *reinterpret_cast<u32*>(at) = pair;
}

__device__ inline void put_floats(float* at, float first, float second) {
    *reinterpret_cast<float2*>(at) = make_float2(first, second);
}

__device__ inline u32 pair_of(float first, float second) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

__device__ inline float one_of(u32 pair, int which) {
    return __uint_as_float(which == 0 ? pair << 16 : pair & 0xffff0000u);
}

// A warp's 16 rows of 16 terms, each thread naming the row and the half of it that it reads from.
__device__ inline void load_rows(u32 (&found)[4], const u16* at) {
    u32 address = static_cast<u32>(__cvta_generic_to_shared(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                 : "r"(address)
                 : "memory");
}

// Adds to a warp's 16 sums for each of 8 units the products of those rows with the units' weights.
__device__ inline void multiply(float (&sums)[4], const u32 (&rows)[4], const u32 (&weights)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(weights[0]), "r"(weights[1]));
}

// Where in another block's shared memory lies what lies at ``own`` in this one's.
__device__ inline u32 in_block(u32 own, int block) {
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(block));
    return there;
}

__device__ inline u32 address_of(const u16* own) {
    return static_cast<u32>(__cvta_generic_to_shared(own));
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

__device__ inline void put(u16* own, int block, u32 pair, int time) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     in_block(address_of(own), block)),
                 "r"(pair), "r"(in_block(counter(time), block))
                 : "memory");
}

__device__ inline void put_four(u16* own, int block, const u32 (&pairs)[4], int time) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     in_block(address_of(own), block)),
                 "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3]), "r"(in_block(counter(time), block))
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
