// RUN: %brew-opt %s --verify-diagnostics --split-input-file

// expected-error@+1 {{needs a #target.cpu or a #target.gpu as 'target.machine'}}
module attributes {target.machine = "sm_90"} {
}

// -----

// expected-error@+1 {{has the unknown attribute 'target.machin'}}
module attributes {target.machin = 1 : i64} {
}

// -----

// expected-error@+1 {{cannot have 'target.machine', which belongs to a module}}
brew.program @p test attributes {target.machine = 1 : i64} {
}

// -----

// expected-error@+1 {{vector_bits must be a power of two from 128 on}}
#odd = #target.cpu<vector_bits = 300, l2_bytes = 1, cores = 1, library = <channels_last = true, fused_leaky_relu = true, bf16 = true, f16 = false, tf32 = false, f32_weight_gradients = true, slow_bias_elements = 1>>

// -----

// expected-error@+1 {{a processor has a cache and a core}}
#none = #target.cpu<vector_bits = 256, l2_bytes = 1, cores = 0, library = <channels_last = true, fused_leaky_relu = true, bf16 = true, f16 = false, tf32 = false, f32_weight_gradients = true, slow_bias_elements = 1>>

// -----

// expected-error@+1 {{the numbers of a GPU must be positive}}
#none = #target.gpu<arch = "x", multiprocessors = 0, threads = 1024, block_threads = 256, shared_bytes = 1, cache_bytes = 1, bytes_per_cycle = 1, ops_per_cycle = 1, library = <channels_last = false, fused_leaky_relu = false, bf16 = false, f16 = false, tf32 = false, f32_weight_gradients = false, slow_bias_elements = 1>>

// -----

// expected-error@+1 {{block_threads must be a power of two from 256 on, and no more than threads}}
#small = #target.gpu<arch = "x", multiprocessors = 1, threads = 512, block_threads = 1024, shared_bytes = 1, cache_bytes = 1, bytes_per_cycle = 1, ops_per_cycle = 1, library = <channels_last = false, fused_leaky_relu = false, bf16 = false, f16 = false, tf32 = false, f32_weight_gradients = false, slow_bias_elements = 1>>

// -----

// expected-error@+1 {{clock_mhz must be positive}}
#still = #target.cpu<vector_bits = 256, l2_bytes = 1, cores = 1, library = <channels_last = true, fused_leaky_relu = true, bf16 = true, f16 = false, tf32 = false, f32_weight_gradients = true, slow_bias_elements = 1>, clock_mhz = 0>

// -----

// expected-error@+1 {{the numbers of a GPU must be positive}}
#none = #target.gpu<arch = "x", multiprocessors = 1, threads = 1024, block_threads = 256, shared_bytes = 1, cache_bytes = 1, bytes_per_cycle = 1, ops_per_cycle = 1, library = <channels_last = false, fused_leaky_relu = false, bf16 = false, f16 = false, tf32 = false, f32_weight_gradients = false, slow_bias_elements = 1>, tensor_ops_per_cycle = -1>
