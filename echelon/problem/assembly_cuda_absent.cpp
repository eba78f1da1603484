// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/problem/assembly.hpp"
#include "echelon/problem/cahn_hilliard_row.inl"
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
template <class Sampler>
const SamplerKernels<Sampler>* sampler_kernels() {
  return nullptr;
}
template <class Speed>
const SpeedKernels<Speed>* speed_kernels() {
  return nullptr;
}
template const AssemblyKernels<ConstantRows>* assembly_kernels();
template const AssemblyKernels<StarConductors>* assembly_kernels();
template const AssemblyKernels<BoxElements>* assembly_kernels();
template const AssemblyKernels<RandomRows>* assembly_kernels();
template const AssemblyKernels<EulerRows>* assembly_kernels();
template const AssemblyKernels<NavierStokesRows>* assembly_kernels();
template const AssemblyKernels<CahnHilliardRows>* assembly_kernels();
template const SamplerKernels<KappaSampler<SmoothCoefficient>>* sampler_kernels();
template const SamplerKernels<KappaSampler<JumpCoefficient>>* sampler_kernels();
template const SamplerKernels<GasSampler<WavedGas>>* sampler_kernels();
template const SamplerKernels<ViscousSampler<WavedViscous>>* sampler_kernels();
template const SamplerKernels<PhaseSampler<WavedPhases>>* sampler_kernels();
template const SpeedKernels<GasWaves>* speed_kernels();
template const SpeedKernels<ViscousSpeed>* speed_kernels();

}  // namespace echelon::problems
