// SPDX-License-Identifier: MIT
/*
 * Eigen beside accel bench: expressions over its row-major tensors, and its thread pool where there
 * is more than one thread.
 */
#define EIGEN_USE_THREADS 1

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <unsupported/Eigen/CXX11/Tensor>

#include "peer.h"

namespace {

template <size_t rank> using index = std::array<Eigen::Index, rank>;
template <typename T, size_t rank>
using tensor = Eigen::TensorMap<Eigen::Tensor<T, rank, Eigen::RowMajor>>;

/* What a case is done on. */
class worker {
public:
	explicit worker(int num_threads) : num_threads_(num_threads)
	{
	}

	template <typename D, typename E> void assign(D &&destination, const E &expression)
	{
		if (num_threads_ == 1)
			destination = expression;
		else
			destination.device(device_) = expression;
	}

private:
	int num_threads_;
	Eigen::ThreadPool pool_{ num_threads_ };
	Eigen::ThreadPoolDevice device_{ &pool_, num_threads_ };
};

/* The destination's axes are those of the source, in another order. */
template <typename T, size_t rank> peer_prepare shuffle(index<rank> shape, index<rank> order)
{
	return [=](int num_threads) {
		auto on = std::make_shared<worker>(num_threads);
		index<rank> result;

		for (size_t k = 0; k < rank; k++)
			result[k] = shape[order[k]];
		tensor<T, rank> source(peer_memory<T>(PEER_SOURCE), shape);
		tensor<T, rank> destination(peer_memory<T>(PEER_DESTINATION), result);
		return [=]() mutable { on->assign(destination, source.shuffle(order)); };
	};
}

template <typename T> peer_prepare transpose(Eigen::Index extent)
{
	return shuffle<T, 2>({ extent, extent }, { 1, 0 });
}

/* What is padded is stored: as an expression in the next one it takes ten times as long. */
peer_case sticks(int num_threads)
{
	auto on = std::make_shared<worker>(num_threads);
	tensor<uint16_t, 3> source(peer_memory<uint16_t>(PEER_SOURCE), 64, 1000, 1500);
	tensor<uint16_t, 4> destination(peer_memory<uint16_t>(PEER_DESTINATION), 1000, 24, 64, 64);
	Eigen::Tensor<uint16_t, 3, Eigen::RowMajor> padded(64, 1000, 24 * 64);
	std::array<std::pair<Eigen::Index, Eigen::Index>, 3> padding;
	index<4> split = { 64, 1000, 24, 64 }, order = { 1, 2, 0, 3 };

	padding[2].second = 36;
	return [=]() mutable {
		on->assign(padded, source.pad(padding));
		on->assign(destination, padded.reshape(split).shuffle(order));
	};
}

/* The source once for each place in the window, one behind the other; then these axes are moved. */
peer_prepare im2col(index<6> order)
{
	return [=](int num_threads) {
		auto on = std::make_shared<worker>(num_threads);
		tensor<float, 4> source(peer_memory<float>(PEER_SOURCE), 8, 64, 56, 56);
		index<6> split = { 3, 3, 8, 64, 56, 56 }, shape;
		Eigen::Tensor<float, 4, Eigen::RowMajor> padded(8, 64, 58, 58);
		Eigen::Tensor<float, 5, Eigen::RowMajor> places(9, 8, 64, 56, 56);
		std::array<std::pair<Eigen::Index, Eigen::Index>, 4> padding;
		index<4> extents = { 8, 64, 56, 56 };

		for (size_t k = 0; k < shape.size(); k++)
			shape[k] = split[order[k]];
		tensor<float, 6> destination(peer_memory<float>(PEER_DESTINATION), shape);
		padding[2] = padding[3] = { 1, 1 };
		return [=]() mutable {
			on->assign(padded, source.pad(padding));
			for (Eigen::Index place = 0; place < 9; place++) {
				index<4> start = { 0, 0, place / 3, place % 3 };

				on->assign(places.chip<0>(place), padded.slice(start, extents));
			}
			on->assign(destination, places.reshape(split).shuffle(order));
		};
	};
}

/* Two rows as one: its first half is what is wanted, and a slice without steps is copied fast. */
peer_case slice(int num_threads)
{
	auto on = std::make_shared<worker>(num_threads);
	tensor<float, 3> source(peer_memory<float>(PEER_SOURCE), 512, 256, 1024);
	tensor<float, 3> destination(peer_memory<float>(PEER_DESTINATION), 512, 256, 504);
	index<3> start = { 0, 0, 3 }, extents = { 512, 256, 504 };

	return [=]() mutable { on->assign(destination, source.slice(start, extents)); };
}

peer_case gather(int num_threads)
{
	using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
	using indices = Eigen::Matrix<int64_t, Eigen::Dynamic, 1>;
	Eigen::Map<matrix> source(peer_memory<float>(PEER_SOURCE), 1 << 20, 64);
	Eigen::Map<matrix> destination(peer_memory<float>(PEER_DESTINATION), 1 << 20, 64);
	Eigen::Map<indices> rows(peer_memory<int64_t>(PEER_INDICES), 1 << 20);

	(void)num_threads;
	return [=]() mutable { destination = source(rows, Eigen::all); };
}

peer_case quantize(int num_threads)
{
	auto on = std::make_shared<worker>(num_threads);
	tensor<float, 4> source(peer_memory<float>(PEER_SOURCE), 32, 3, 224, 224);
	tensor<uint8_t, 4> destination(peer_memory<uint8_t>(PEER_DESTINATION), 32, 224, 224, 3);
	index<4> order = { 0, 2, 3, 1 };

	return [=]() mutable {
		on->assign(destination, (source * 32.0f + 128.0f).rint().cwiseMax(0.0f)
						.cwiseMin(255.0f).cast<uint8_t>().shuffle(order));
	};
}

peer_case normalize(int num_threads)
{
	static const float means[] = { 123.675f, 116.28f, 103.53f };
	static const float scales[] = { 0.0171248f, 0.0175070f, 0.0174292f };
	auto on = std::make_shared<worker>(num_threads);
	tensor<uint8_t, 4> source(peer_memory<uint8_t>(PEER_SOURCE), 32, 224, 224, 3);
	tensor<float, 4> destination(peer_memory<float>(PEER_DESTINATION), 32, 3, 224, 224);

	return [=]() mutable {
		for (Eigen::Index c = 0; c < 3; c++)
			on->assign(destination.chip<1>(c),
				   (source.chip<3>(c).cast<float>() - means[c]) * scales[c]);
	};
}

const std::map<std::string, peer_prepare> cases = {
	{ "a", shuffle<float, 4>({ 1, 64, 56, 56 }, { 0, 2, 3, 1 }) },
	{ "b", shuffle<float, 4>({ 32, 64, 112, 112 }, { 0, 2, 3, 1 }) },
	{ "c", shuffle<float, 5>({ 32, 112, 112, 4, 16 }, { 0, 3, 1, 2, 4 }) },
	{ "d", transpose<float>(4096) },
	{ "e", shuffle<uint8_t, 4>({ 128, 128, 128, 3 }, { 0, 3, 1, 2 }) },
	{ "f", sticks },
	{ "g1", transpose<uint8_t>(8192) },
	{ "g2", transpose<uint16_t>(8192) },
	{ "g3", transpose<double>(4096) },
	{ "h1", shuffle<float, 5>({ 16, 64, 64, 32, 4 }, { 0, 3, 1, 2, 4 }) },
	{ "h2", shuffle<float, 5>({ 16, 32, 64, 64, 4 }, { 0, 2, 3, 1, 4 }) },
	{ "i1", im2col({ 2, 3, 0, 1, 4, 5 }) },
	{ "i2", im2col({ 2, 4, 5, 3, 0, 1 }) },
	{ "j", slice },
	{ "k", gather },
	{ "l1", quantize },
	{ "l2", normalize },
	{ "m", shuffle<float, 6>({ 16, 24, 16, 20, 16, 24 }, { 5, 0, 3, 1, 4, 2 }) },
};

} /* namespace */

int main(int argc, char **argv)
{
	std::string version = std::to_string(EIGEN_WORLD_VERSION) + "." +
			      std::to_string(EIGEN_MAJOR_VERSION) + "." +
			      std::to_string(EIGEN_MINOR_VERSION);

	return peer_main(argc, argv, version.c_str(), cases);
}
