// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/cahn_hilliard_row.inl"
#include "echelon/problem/convection_diffusion_row.inl"
#include "echelon/problem/euler_row.inl"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/navier_stokes_row.inl"
#include "echelon/problem/random_row.inl"
#include "echelon/problem/variable_poisson_row.inl"

namespace echelon::problems {
template <class Recipe>
const AssemblyKernels<Recipe>* assembly_kernels() {
  return nullptr;
}
template <class Sampler, class Speed>
const SamplerKernels<Sampler, Speed>* sampler_kernels() {
  return nullptr;
}
template const AssemblyKernels<ConstantRows>* assembly_kernels();
template const AssemblyKernels<BalancedRows>* assembly_kernels();
template const AssemblyKernels<UpwindRows>* assembly_kernels();
template const AssemblyKernels<StarConductors>* assembly_kernels();
template const AssemblyKernels<DirectedConductors>* assembly_kernels();
template const AssemblyKernels<BoxElements>* assembly_kernels();
template const AssemblyKernels<RandomRows>* assembly_kernels();
template const AssemblyKernels<EulerRows>* assembly_kernels();
template const AssemblyKernels<NavierStokesRows>* assembly_kernels();
template const AssemblyKernels<CahnHilliardRows>* assembly_kernels();
template const SamplerKernels<KappaSampler<SmoothCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<KappaSampler<JumpCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<KappaSampler<RandomCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<DirectedSampler<RegionCoefficient>, NoSpeed>* sampler_kernels();
template const SamplerKernels<FlowSampler<RecirculatingFlow>, NoSpeed>* sampler_kernels();
template const SamplerKernels<GasSampler<WavedGas>, GasWaves>* sampler_kernels();
template const SamplerKernels<ViscousSampler<WavedViscous>, ViscousSpeed>* sampler_kernels();
template const SamplerKernels<PhaseSampler<WavedPhases>, NoSpeed>* sampler_kernels();
}  // namespace echelon::problems
