/* StableHLO as MLIR text: the operators stablehlo.*, mhlo.* and some of chlo.*, in their own and in the generic form.
 * https://openxla.org/stablehlo/spec, https://mlir.llvm.org/docs/LangRef
 *
 *   module @name { func.func public @main(%arg0: tensor<1x8xf32>) -> tensor<1x4xf32> { operators } }
 *   %0 = stablehlo.add %a, %b : tensor<4xf32>
 *   %0 = "stablehlo.add"(%a, %b) <{attributes}> ({regions}) {attributes} : (types) -> types
 *
 * The function @main is read, else the first public one; calls and composites are inlined. Every operator states the type of
 * its results: those are declared, and compared with what is inferred. A while becomes a Loop, with the number of trips
 * where it is counted; if and case of two branches become If. Operators of other dialects and those without a row keep their
 * name in the domain "stablehlo" and are unknown.
 *
 * An operator begins on a line of its own, as every printer writes it. Bytecode (.mlirbc) is not read. Parameters of a
 * network that are arguments of @main are inputs, because nothing tells them apart.
 */
#ifndef FORMATS_STABLEHLO_H
#define FORMATS_STABLEHLO_H

#include "formats/foreign.h"

foreign_read_fn stablehlo_read;

#endif
