#pragma once

#include <cstdint>

// The instructions that CUDA C++ has no name for: asynchronous copies, matrix loads, tensor-core
// products and barriers of a part of a block.

namespace synergraph::cuda {

/// The thread's number, read again: what is computed from it is not kept from one call to the next,
/// where registers are short.
__device__ __forceinline__ int thread_again() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

/// An address in shared memory, in bytes.
using Address = std::uint32_t;

__device__ __forceinline__ Address address_of(const float* shared) {
  return static_cast<Address>(__cvta_generic_to_shared(shared));
}

/// `address` with the bits of `offset` flipped. Units begin at multiples of 1 KiB, so that this
/// moves between features of a position.
__device__ __forceinline__ Address flipped(Address address, unsigned offset) {
  return address ^ offset;
}

__device__ __forceinline__ float load_float(Address address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}

__device__ __forceinline__ void store_float(Address address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" : : "r"(address), "f"(value) : "memory");
}

/// Begins to copy 16 bytes to shared memory. They are there after arrived().
__device__ __forceinline__ void begin_copy(Address to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}
/// Waits for all copies that this thread has begun.
__device__ __forceinline__ void arrived() {
  asm volatile("cp.async.wait_all;" : : : "memory");
}

/// Asks for the 128 bytes at `address` to be brought near.
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(address));
}

/// A barrier of the four warps of a part of the positions.
__device__ __forceinline__ void part_barrier(int part) {
  asm volatile("bar.sync %0, 128;" : : "r"(part + 1) : "memory");
}

/// Four 8 x 4 matrices of floats: thread i names row i % 8 of matrix i / 8 (four floats), and gets
/// entry (i / 4, i % 4) of each matrix.
__device__ __forceinline__ void load_matrices(std::uint32_t (&m)[4], Address row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row)
               : "memory");
}

/// Two of them: thread i < 16 names row i % 8 of matrix i / 8.
__device__ __forceinline__ void load_matrices(std::uint32_t (&m)[2], Address row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(m[0]), "=r"(m[1])
               : "r"(row)
               : "memory");
}

/// c (16 x 8) += a (16 x 8) b (8 x 8) of numbers with ten bits after the point. What is beyond
/// these in a and b is ignored. Thread 4g+t holds a: (g,t) (g+8,t) (g,t+4) (g+8,t+4);
/// b: (t,g) (t+4,g); c: (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1).
__device__ __forceinline__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same with a (16 x 4), b (4 x 8): a: (g,t) (g+8,t); b: (t,g).
__device__ __forceinline__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[2],
                                             std::uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

/// The same products alone: c = a b.
__device__ __forceinline__ void multiply_only(float (&c)[4], const std::uint32_t (&a)[4],
                                              std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%10,%10,%10,%10};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0F));
}
__device__ __forceinline__ void multiply_only(float (&c)[4], const std::uint32_t (&a)[2],
                                              std::uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%7,%7,%7,%7};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "f"(0.0F));
}

constexpr float kLog2E = 1.44269504088896341F;
constexpr float kLn2 = 0.693147180559945309F;
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace synergraph::cuda
