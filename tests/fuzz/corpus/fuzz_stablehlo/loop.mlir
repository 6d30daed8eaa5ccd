module @loops {
  func.func @main(%x: tensor<5x2x3xf32>, %state: tensor<2x3xf32>, %flag: tensor<i1>) -> (tensor<2x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %w = stablehlo.constant dense<[[1.0, 0.5, -0.5], [2.0, 0.0, 1.0], [-1.0, 3.0, 0.25]]> : tensor<3x3xf32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x2x3xi32>
    %out = stablehlo.convert %0 : (tensor<5x2x3xi32>) -> tensor<5x2x3xf32>
    %1:4 = stablehlo.while(%iterArg = %x, %iterArg_2 = %c, %iterArg_3 = %state, %iterArg_4 = %out) : tensor<5x2x3xf32>, tensor<i32>, tensor<2x3xf32>, tensor<5x2x3xf32>
    cond {
      %2 = stablehlo.compare LT, %iterArg_2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.dynamic_slice %iterArg, %iterArg_2, %c, %c, sizes = [1, 2, 3] : (tensor<5x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %4 = stablehlo.dot %3, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %5 = stablehlo.add %4, %iterArg_3 : tensor<2x3xf32>
      %6 = stablehlo.reshape %5 : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
      %7 = stablehlo.dynamic_update_slice %iterArg_4, %6, %iterArg_2, %c, %c : (tensor<5x2x3xf32>, tensor<1x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x3xf32>
      %8 = stablehlo.add %iterArg_2, %c_0 : tensor<i32>
      stablehlo.return %iterArg, %8, %5, %7 : tensor<5x2x3xf32>, tensor<i32>, tensor<2x3xf32>, tensor<5x2x3xf32>
    }
    %9 = "stablehlo.if"(%flag) ({
      %10 = "stablehlo.negate"(%1#2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      "stablehlo.return"(%10) : (tensor<2x3xf32>) -> ()
    }, {
      %11 = stablehlo.custom_call @mystery(%1#2) {api_version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
      "stablehlo.return"(%11) : (tensor<2x3xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2x3xf32>
    func.return %1#2, %1#3, %9 : tensor<2x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>
  }
}
