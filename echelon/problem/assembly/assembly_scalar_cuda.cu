// SPDX-License-Identifier: BSD-3-Clause
// Assembly on a GPU of the problems with one unknown a point, and of random matrices.
#include "echelon/problem/assembly/assembly.cuh"
#include "echelon/problem/convection_diffusion_row.inl"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/random_row.inl"
#include "echelon/problem/variable_poisson_row.inl"

namespace echelon::problems {

template const AssemblyKernels<ConstantRows>* assembly_kernels();
template const AssemblyKernels<BalancedRows>* assembly_kernels();
template const AssemblyKernels<UpwindRows>* assembly_kernels();
template const AssemblyKernels<StarConductors>* assembly_kernels();
template const AssemblyKernels<DirectedConductors>* assembly_kernels();
template const AssemblyKernels<BoxElements>* assembly_kernels();
template const AssemblyKernels<RandomRows>* assembly_kernels();
template const SamplerKernels<KappaSampler<SmoothCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<KappaSampler<JumpCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<KappaSampler<RandomCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<DirectedSampler<RegionCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<FlowSampler<RecirculatingFlow>, NoSpeed>* sampler_kernels();

}  // namespace echelon::problems
