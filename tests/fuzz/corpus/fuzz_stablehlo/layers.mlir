
module @layers {
  func.func public @main(%arg0: tensor<1x5x4x3xf32>, %arg1: tensor<2x6xf32>, %arg2: tensor<2x6xi32>)
      -> (tensor<1x9x8x2xf32>, tensor<1x3x2x3xf32>, tensor<2x6xf32>, tensor<2x6xi32>,
          tensor<2x6xf32>, tensor<2x6xf32>, tensor<2xi1>, tensor<2x2xf32>) {
    %k = stablehlo.constant dense<"0x7134DD3FF473833F3FE08D3F02A078BFF2981ABF316342BF907ADABF7841D4BEA3705D3F475E433ED04960BEC796C5BF58DFEB3FF502BDBF61F4903F463151BFEC87263ED688D03D61E558BFC94A2FBF0534CABFA69881BF491CE8BDC083F03C50712D3F63D8A83F511403C0CEB590BEC9C344BE2A8F0B4024FBBBBE4F49A53E2E705C3F700D693D6C904BBFD0E7DCBD"> : tensor<3x2x3x2xf32>
    %0 = stablehlo.convolution(%arg0, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x5x4x3xf32>, tensor<3x2x3x2xf32>) -> tensor<1x9x8x2xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %init = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %init) <{
        padding = dense<[[0, 0], [1, 1], [1, 0], [0, 0]]> : tensor<4x2xi64>,
        window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) : (tensor<1x5x4x3xf32>, tensor<f32>) -> tensor<1x3x2x3xf32>
    %2:2 = "stablehlo.sort"(%arg1, %arg2) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %g = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %g : tensor<i1>
    }) : (tensor<2x6xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xi32>)
    %3 = stablehlo.cbrt %arg1 : tensor<2x6xf32>
    %4 = stablehlo.round_nearest_afz %arg1 : tensor<2x6xf32>
    %zero = stablehlo.constant dense<0.5> : tensor<2x6xf32>
    %5 = stablehlo.compare GT, %arg1, %zero : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xi1>
    %off = stablehlo.constant dense<false> : tensor<i1>
    %6 = stablehlo.reduce(%5 init: %off) across dimensions = [1]
        : (tensor<2x6xi1>, tensor<i1>) -> tensor<2xi1>
      reducer(%a: tensor<i1>, %b: tensor<i1>) {
        %yes = stablehlo.constant dense<true> : tensor<i1>
        %no = stablehlo.constant dense<false> : tensor<i1>
        %e = stablehlo.or %a, %b : tensor<i1>
        %f = stablehlo.select %e, %yes, %no : tensor<i1>, tensor<i1>
        stablehlo.return %f : tensor<i1>
    }
    %7 = "stablehlo.einsum"(%arg1, %arg1) {einsum_config = "ik,jk->ij"}
        : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x2xf32>
    return %0, %1, %2#0, %2#1, %3, %4, %6, %7
        : tensor<1x9x8x2xf32>, tensor<1x3x2x3xf32>, tensor<2x6xf32>,
        tensor<2x6xi32>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<2xi1>, tensor<2x2xf32>
  }
}
