// What Hopper chips can do and C++ cannot say: products of small matrices by a warp, and memory that a cluster shares.

typedef unsigned short u16;
typedef unsigned int u32;

#define CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)

__device__ inline u16* shared_memory() {
    extern __shared__ uint4 memory[];
    return reinterpret_cast<u16*>(memory);
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
__device__ inline u32 in_block(const u16* own, int block) {
    u32 address = static_cast<u32>(__cvta_generic_to_shared(own)), there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}

__device__ inline void put(u16* own, int block, u32 pair) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(in_block(own, block)), "r"(pair) : "memory");
}

__device__ inline void put_four(u16* own, int block, const u32 (&pairs)[4]) {
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(in_block(own, block)),
                 "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
}

// All blocks of the cluster wait until all have arrived; what each wrote before is seen by all after.
__device__ inline void arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ inline void wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
