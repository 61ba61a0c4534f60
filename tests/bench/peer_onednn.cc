// SPDX-License-Identifier: MIT
/*
 * oneDNN beside accel bench: its reorders, between the formats that it has names for where it has
 * them, else between strides. Its threads are OpenMP's.
 */
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "peer.h"

using dnnl::memory;
using dims = memory::dims;
using type = memory::data_type;
using tag = memory::format_tag;

namespace {

struct place {
	memory::desc description;
	size_t offset;		/* bytes */
};

/* One reorder after the other. */
class reorders {
public:
	explicit reorders(int num_threads)
	{
		omp_set_num_threads(num_threads);
		source_ = peer_memory<char>(PEER_SOURCE);
		destination_ = peer_memory<char>(PEER_DESTINATION);
	}

	void add(const place &source, const place &destination,
		 const dnnl::primitive_attr &attributes = dnnl::primitive_attr())
	{
		step step;

		step.source = memory(source.description, engine_, source_ + source.offset);
		step.destination = memory(destination.description, engine_,
					  destination_ + destination.offset);
		step.reorder = dnnl::reorder(step.source, step.destination, attributes);
		steps_.push_back(step);
	}

	void operator()()
	{
		for (step &step : steps_)
			step.reorder.execute(stream_, step.source, step.destination);
		stream_.wait();
	}

	char *destination() const
	{
		return destination_;
	}

private:
	struct step {
		memory source;
		memory destination;
		dnnl::reorder reorder;
	};

	char *source_;
	char *destination_;
	dnnl::engine engine_{ dnnl::engine::kind::cpu, 0 };
	dnnl::stream stream_{ engine_ };
	std::vector<step> steps_;
};

peer_prepare formats(dims shape, type type, tag from, tag to)
{
	return [=](int num_threads) {
		auto all = std::make_shared<reorders>(num_threads);

		all->add({ { shape, type, from }, 0 }, { { shape, type, to }, 0 });
		return [all] { (*all)(); };
	};
}

peer_prepare strides(dims shape, type type, dims from, dims to, size_t offset = 0)
{
	return [=](int num_threads) {
		auto all = std::make_shared<reorders>(num_threads);

		all->add({ { shape, type, from }, offset }, { { shape, type, to }, 0 });
		return [all] { (*all)(); };
	};
}

/*
 * bf16 stands for any 2 bytes. Without AVX-512 they are computed with, and what is no normal number
 * comes out as another.
 */
#ifdef __AVX512BW__
/* Whole sticks, what is left of the last one, and its padding, which is written each time too. */
peer_case sticks(int num_threads)
{
	auto all = std::make_shared<reorders>(num_threads);

	all->add({ { { 1000, 23, 64, 64 }, type::bf16, dims{ 1500, 64, 1500000, 1 } }, 0 },
		 { { { 1000, 23, 64, 64 }, type::bf16, dims{ 98304, 4096, 64, 1 } }, 0 });
	all->add({ { { 1000, 64, 28 }, type::bf16, dims{ 1500, 1500000, 1 } }, 2 * 1472 },
		 { { { 1000, 64, 28 }, type::bf16, dims{ 98304, 64, 1 } }, 2 * 23 * 4096 });
	return [all] {
		(*all)();
		for (size_t row = 0; row < 1000; row++) {
			for (size_t stick = 0; stick < 64; stick++)
				memset(all->destination() +
				       2 * (row * 98304 + 23 * 4096 + stick * 64 + 28), 0, 2 * 36);
		}
	};
}
#endif

#if DNNL_VERSION_MAJOR == 2
peer_case quantize(int num_threads)
{
	auto all = std::make_shared<reorders>(num_threads);
	dnnl::primitive_attr attributes;
	dims shape = { 32, 3, 224, 224 };

	attributes.set_output_scales(0, { 32.0f });
	attributes.set_zero_points(DNNL_ARG_DST, 0, { 128 });
	all->add({ { shape, type::f32, tag::nchw }, 0 }, { { shape, type::u8, tag::nhwc }, 0 },
		 attributes);
	return [all] { (*all)(); };
}
#endif

const std::map<std::string, peer_prepare> cases = {
	{ "a", formats({ 1, 64, 56, 56 }, type::f32, tag::nchw, tag::nhwc) },
	{ "b", formats({ 32, 64, 112, 112 }, type::f32, tag::nchw, tag::nhwc) },
	{ "c", formats({ 32, 64, 112, 112 }, type::f32, tag::nhwc, tag::nChw16c) },
	{ "d", formats({ 4096, 4096 }, type::f32, tag::ab, tag::ba) },
	{ "e", formats({ 128, 3, 128, 128 }, type::u8, tag::nhwc, tag::nchw) },
	{ "g1", formats({ 8192, 8192 }, type::u8, tag::ab, tag::ba) },
#ifdef __AVX512BW__
	{ "f", sticks },
	{ "g2", formats({ 8192, 8192 }, type::bf16, tag::ab, tag::ba) },
#endif
	{ "h1", formats({ 16, 128, 64, 64 }, type::f32, tag::nhwc, tag::nChw4c) },
	{ "h2", formats({ 16, 128, 64, 64 }, type::f32, tag::nChw4c, tag::nhwc) },
	{ "j", strides({ 512, 256, 504 }, type::f32, { 262144, 1024, 1 }, { 129024, 504, 1 },
		       3 * sizeof(float)) },
#if DNNL_VERSION_MAJOR == 2
	{ "l1", quantize },
#endif
	{ "m", strides({ 24, 16, 20, 24, 16, 16 }, type::f32,
		       { 1, 2949120, 384, 122880, 24, 7680 },
		       { 1966080, 122880, 6144, 256, 16, 1 }) },
};

} /* namespace */

int main(int argc, char **argv)
{
	const dnnl_version_t *version = dnnl_version();
	std::string text = std::to_string(version->major) + "." + std::to_string(version->minor) +
			   "." + std::to_string(version->patch);

	return peer_main(argc, argv, text.c_str(), cases);
}
