// The same layer by oneDNN, where the build found it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/bench/OneDnnLayer.h"

#ifdef CONVOY_HAVE_ONEDNN

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.hpp>

using namespace convoy::test;
using namespace dnnl;

// Whether it computes in the calling thread alone from now on.
static bool holdToOneThread() {
  switch (dnnl_version()->cpu_runtime) {
  case DNNL_RUNTIME_SEQ:
    return true;
  case DNNL_RUNTIME_OMP: {
    // OpenMP's library comes with oneDNN's: there is no other use for it here.
    auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    if (set)
      set(1);
    return set;
  }
  default:
    return false;
  }
}

std::string convoy::test::oneDnnVersion() {
  static const bool isHeld = holdToOneThread();
  const dnnl_version_t *version = dnnl_version();
  if (!isHeld)
    return "";
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

static convolution_forward::primitive_desc describe(const ConvShape &s, const engine &engine) {
  auto any = [](memory::dims dims) {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  };
  memory::desc src = any({1, s.ic, s.h, s.w}), dst = any({1, s.oc, s.oh(), s.ow()});
  memory::desc wei = s.groups == 1
                         ? any({s.oc, s.ic, s.kh, s.kw})
                         : any({s.groups, s.oc / s.groups, s.ic / s.groups, s.kh, s.kw});
  memory::dims strides{s.stride, s.stride}, dilates{s.dilation - 1, s.dilation - 1};
  memory::dims pads{s.pad, s.pad};
  post_ops relu;
  primitive_attr attr;
#if DNNL_VERSION_MAJOR >= 3
  relu.append_eltwise(algorithm::eltwise_relu, 0, 0);
  attr.set_post_ops(relu);
  return {engine, prop_kind::forward_inference, algorithm::convolution_direct, src, wei,
          any({s.oc}), dst, strides, dilates, pads, pads, attr};
#else
  relu.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  attr.set_post_ops(relu);
  convolution_forward::desc conv(prop_kind::forward_inference, algorithm::convolution_direct, src,
                                 wei, any({s.oc}), dst, strides, dilates, pads, pads);
  return {conv, attr, engine};
#endif
}

static memory filled(const memory::desc &desc, const engine &engine) {
  memory result(desc, engine);
  auto *data = static_cast<float *>(result.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
    data[i] = float(i % 7) - 3;
  return result;
}

std::function<void()> convoy::test::oneDnnConv(const ConvShape &shape, size_t copies) {
  if (oneDnnVersion().empty())
    return nullptr;
  static engine cpu(engine::kind::cpu, 0);
  static stream order(cpu);
  try {
    auto desc = describe(shape, cpu);
    convolution_forward conv(desc);
    std::vector<memory> weights;
    for (size_t i = 0; i < copies; ++i)
      weights.push_back(filled(desc.weights_desc(), cpu));
    std::unordered_map<int, memory> args{{DNNL_ARG_SRC, filled(desc.src_desc(), cpu)},
                                         {DNNL_ARG_BIAS, filled(desc.bias_desc(), cpu)},
                                         {DNNL_ARG_DST, filled(desc.dst_desc(), cpu)}};
    return [=, next = size_t(0)]() mutable {
      args[DNNL_ARG_WEIGHTS] = weights[next];
      next = (next + 1) % weights.size();
      conv.execute(order, args);
      order.wait();
    };
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

#else

std::string convoy::test::oneDnnVersion() { return ""; }
std::function<void()> convoy::test::oneDnnConv(const ConvShape &, size_t) { return nullptr; }

#endif
