// Every solver has its own scalars and states, in Caffe's order.
// RUN: %brew-opt %s --brew-build-update='type=Nesterov' | FileCheck %s --check-prefix=NESTEROV
// RUN: %brew-opt %s --brew-build-update='type=AdaGrad' | FileCheck %s --check-prefix=ADAGRAD
// RUN: %brew-opt %s --brew-build-update='type=RMSProp' | FileCheck %s --check-prefix=RMSPROP
// RUN: %brew-opt %s --brew-build-update='type=AdaDelta' | FileCheck %s --check-prefix=ADADELTA
// RUN: %brew-opt %s --brew-build-update='type=Adam keep-update' | FileCheck %s --check-prefix=ADAM
// RUN: %brew-opt %s --brew-build-update='type=Adam' | FileCheck %s --check-prefix=PLAIN
//
// One kernel updates all parameters, whatever the solver; the update is written only if
// something reads it.
// RUN: %brew-opt %s --brew-build-update='type=Adam keep-update' --brew-lower-to-nests --cse --brew-form-kernels | FileCheck %s --check-prefix=KERNEL
// RUN: %brew-opt %s --brew-build-update='type=AdaDelta' --brew-lower-to-nests --cse --brew-form-kernels | FileCheck %s --check-prefix=UNKEPT

brew.param @ip.0 : tensor<2x3xf32> {layer = "ip", index = 0 : i64}
brew.param @ip.1 : tensor<2xf32> {layer = "ip", index = 1 : i64}
brew.program @forward_backward train {
  %w = brew.fill 1.0 : tensor<2x3xf32>
  %b = brew.fill 1.0 : tensor<2xf32>
  brew.store_gradient %w, @ip.0 : tensor<2x3xf32>
  brew.store_gradient %b, @ip.1 : tensor<2xf32>
}

// NESTEROV-LABEL: brew.program @update
// NESTEROV: brew.nesterov_update({{(%[a-z0-9_]+, ){6}%[a-z0-9_]+}})
// NESTEROV-NOT: brew.store_state %{{.*}}[1]

// ADAGRAD-LABEL: brew.program @update
// ADAGRAD-NOT: brew.solver_scalar momentum
// ADAGRAD: %[[DELTA:.*]] = brew.solver_scalar delta : tensor<f32>
// ADAGRAD: brew.adagrad_update({{.*}}, %[[DELTA]])

// RMSPROP-LABEL: brew.program @update
// RMSPROP: %[[DELTA:.*]] = brew.solver_scalar delta : tensor<f32>
// RMSPROP: %[[DECAY:.*]] = brew.solver_scalar rms_decay : tensor<f32>
// RMSPROP: brew.rmsprop_update({{.*}}, %[[DELTA]], %[[DECAY]])

// ADADELTA-LABEL: brew.program @update
// ADADELTA: %[[MOMENTUM:.*]] = brew.solver_scalar momentum : tensor<f32>
// ADADELTA: %[[DELTA:.*]] = brew.solver_scalar delta : tensor<f32>
// ADADELTA: %[[G:.*]] = brew.param_state @ip.0[0]
// ADADELTA: %[[U:.*]] = brew.param_state @ip.0[1]
// ADADELTA: %{{.*}}, %[[NG:.*]], %[[NU:.*]], %{{.*}} = brew.adadelta_update(%{{.*}}, %{{.*}}, %[[G]], %[[U]], {{.*}}, %[[MOMENTUM]], %[[DELTA]])
// ADADELTA: brew.store_state %[[NG]], @ip.0[0]
// ADADELTA: brew.store_state %[[NU]], @ip.0[1]
// ADADELTA: brew.store_state %{{.*}}, @ip.1[1]

// ADAM-LABEL: brew.program @update
// ADAM: brew.solver_scalar momentum2 : tensor<f32>
// ADAM: brew.solver_scalar bias_correction : tensor<f32>
// ADAM: %[[W:.*]], %[[M:.*]], %[[V:.*]], %[[U:.*]] = brew.adam_update
// ADAM: brew.store_param %[[W]], @ip.0
// ADAM: brew.store_state %[[M]], @ip.0[0]
// ADAM: brew.store_state %[[V]], @ip.0[1]
// ADAM: brew.store_gradient %[[U]], @ip.0
// PLAIN-LABEL: brew.program @update
// PLAIN-NOT: brew.store_gradient

// KERNEL-LABEL: brew.program @update
// KERNEL: %{{.*}}:8 = brew.kernel
// KERNEL: math.sqrt
// KERNEL-NOT: brew.kernel
// UNKEPT-LABEL: brew.program @update
// UNKEPT: %{{.*}}:6 = brew.kernel
// UNKEPT-NOT: brew.kernel
