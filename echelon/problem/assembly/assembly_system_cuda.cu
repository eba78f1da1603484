// SPDX-License-Identifier: BSD-3-Clause
// Assembly on a GPU of the problems with several unknowns a point.
#include "echelon/problem/assembly/assembly.cuh"
#include "echelon/problem/cahn_hilliard_row.inl"
#include "echelon/problem/euler_row.inl"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/navier_stokes_row.inl"

namespace echelon::problems {

template const AssemblyKernels<EulerRows>* assembly_kernels();
template const AssemblyKernels<NavierStokesRows>* assembly_kernels();
template const AssemblyKernels<CahnHilliardRows>* assembly_kernels();
template const SamplerKernels<GasSampler<WavedGas>, GasWaves>* sampler_kernels();
template const SamplerKernels<ViscousSampler<WavedViscous>, ViscousSpeed>* sampler_kernels();
template const SamplerKernels<PhaseSampler<WavedPhases>, NoSpeed>* sampler_kernels();

}  // namespace echelon::problems
