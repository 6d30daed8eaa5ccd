// A network as jax.export writes it; what a comment says is no operator: stablehlo.add %x
#loc = loc(unknown)
module @jit_net attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x8x3xf32> {mhlo.sharding = "{replicated}"} loc("x"), %arg1: tensor<2x4xi32>) -> (tensor<2x5xf32> {jax.result_info = "[0]"}, tensor<2x4x6xf32>) {
    %cst = stablehlo.constant dense<0.500000e+00> : tensor<3x3x3x4xf32> loc(#loc)
    %cst_0 = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.convolution(%arg0, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [3] : (tensor<4xf32>) -> tensor<2x4x4x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x4x4x4xf32>
    %3 = call @relu(%2) : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %4 = "stablehlo.reduce_window"(%3, %cst_2) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<0> : tensor<4x2xi64>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %20 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x2x2x4xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x2x2x4xf32>) -> tensor<2x16xf32>
    %cst_3 = stablehlo.constant dense<2.500000e-01> : tensor<5x16xf32>
    %6 = stablehlo.dot_general %5, %cst_3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<5x16xf32>) -> tensor<2x5xf32>
    %7 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf32>) -> tensor<2x5xf32>
    %9 = stablehlo.subtract %6, %8 : tensor<2x5xf32>
    %10 = stablehlo.exponential %9 : tensor<2x5xf32>
    %11 = stablehlo.reduce(%10 init: %cst_1) across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
      %20 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xf32>) -> tensor<2x5xf32>
    %13 = stablehlo.divide %10, %12 : tensor<2x5xf32>
    %table = stablehlo.constant dense<1.000000e+00> : tensor<10x6xf32>
    %14 = stablehlo.reshape %arg1 : (tensor<2x4xi32>) -> tensor<2x4x1xi32>
    %15 = "stablehlo.gather"(%table, %14) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<2x4x1xi32>) -> tensor<2x4x6xf32>
    return %13, %15 : tensor<2x5xf32>, tensor<2x4x6xf32> loc(#loc)
  } loc(#loc)
  func.func private @relu(%arg0: tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x4x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x4x4x4xf32>
    return %1 : tensor<2x4x4x4xf32>
  }
} loc(#loc)
