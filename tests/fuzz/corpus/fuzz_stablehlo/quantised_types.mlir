
module {
  func.func public @main(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
    %0 = stablehlo.uniform_quantize %arg0
        : (tensor<2x6xf32>) -> tensor<2x6x!quant.uniform<i8:f32, 2.5e-01:3>>
    %1 = stablehlo.add %0, %0 : tensor<2x6x!quant.uniform<i8:f32, 2.5e-01:3>>
    %2 = stablehlo.uniform_dequantize %1
        : (tensor<2x6x!quant.uniform<i8:f32, 2.5e-01:3>>) -> tensor<2x6xf32>
    return %2 : tensor<2x6xf32>
  }
}
