// RUN: %brew-opt %s --brew-attach-target | FileCheck %s --check-prefix=CPU
// RUN: %brew-opt %s --brew-attach-target='vector-bits=256 bf16=true' | FileCheck %s --check-prefix=AVX2
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 | FileCheck %s --check-prefix=HOPPER
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90,sm_75 | FileCheck %s --check-prefix=BOTH
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sim | FileCheck %s --check-prefix=SIM
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_109 | FileCheck %s --check-prefix=LATER
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_30 | FileCheck %s --check-prefix=OLD

// The pass replaces an existing description.
// CPU: module attributes {target.machine = #target.cpu<vector_bits = 512, l2_bytes = 1048576, cores = 4, library = <channels_last = true, fused_leaky_relu = true, bf16 = false, f16 = false, tf32 = false, f32_weight_gradients = true, slow_bias_elements = 1048576>, clock_mhz = 2500>} {
// AVX2: #target.cpu<vector_bits = 256, l2_bytes = 262144, cores = 4, library = <channels_last = true, fused_leaky_relu = true, bf16 = true,
// HOPPER: #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>, clock_mhz = 1755, f64_ops_per_cycle = 8448, tensor_ops_per_cycle = 270336>

// With several architectures, the numbers are those of the first, and the library has the features
// that all of them support.
// BOTH: #target.gpu<arch = "sm_90", multiprocessors = 132,
// BOTH-SAME: bf16 = false, f16 = true, tf32 = false,

// The simulator represents an H100. An unknown GPU gets the numbers of the latest known one
// before it.
// SIM: #target.gpu<arch = "sim", multiprocessors = 132, {{.*}} bf16 = true,
// LATER: #target.gpu<arch = "sm_109", multiprocessors = 148,
// OLD: #target.gpu<arch = "sm_30", multiprocessors = 56, {{.*}} bf16 = false, f16 = false,
module attributes {target.machine = #target.gpu<arch = "other", multiprocessors = 7, threads = 1024, block_threads = 256, shared_bytes = 1, cache_bytes = 1, bytes_per_cycle = 1, ops_per_cycle = 1, library = <channels_last = false, fused_leaky_relu = false, bf16 = false, f16 = false, tf32 = false, f32_weight_gradients = false, slow_bias_elements = 1>>} {
}
