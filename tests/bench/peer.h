/* SPDX-License-Identifier: MIT */
/*
 * What accel bench and a peer say to each other, from the peer's side. A peer is started as
 * "PEER CASE THREADS", with the source, the destination and the indices as open files of these
 * numbers. It says on standard output "ready THREADS VERSION" or "cannot REASON"; then, for each
 * line "N" on standard input, it touches all pages of these files, does the case N times and
 * answers with the nanoseconds of the latter.
 */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>

enum { PEER_SOURCE = 3, PEER_DESTINATION = 4, PEER_INDICES = 5 };

using peer_case = std::function<void()>;
/* Makes ready everything that is not to be measured. */
using peer_prepare = std::function<peer_case(int num_threads)>;

constexpr size_t PEER_PAGE = 4096;

struct peer_mapping {
	const volatile char *data;
	size_t size;
};

static inline std::vector<peer_mapping> peer_mappings;

/* A peer's turn is long after its last one; the pages are again to be where the CPU finds them. */
static inline void peer_touch()
{
	for (const peer_mapping &mapping : peer_mappings)
		for (size_t k = 0; k < mapping.size; k += PEER_PAGE)
			(void)mapping.data[k];
}

template <typename T> T *peer_memory(int fd)
{
	struct stat status;
	void *data;

	if (fstat(fd, &status)) {
		std::perror("fstat");
		std::exit(1);
	}
	data = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		std::perror("mmap");
		std::exit(1);
	}
	peer_mappings.push_back({ static_cast<char *>(data), static_cast<size_t>(status.st_size) });
	return static_cast<T *>(data);
}

static inline int peer_main(int argc, char **argv, const char *version,
			    const std::map<std::string, peer_prepare> &cases)
{
	unsigned int repetitions;

	if (argc != 3) {
		std::fprintf(stderr, "usage: %s CASE THREADS, started by accel bench\n", argv[0]);
		return 2;
	}
	auto found = cases.find(argv[1]);
	if (found == cases.end()) {
		std::printf("cannot do this case\n");
		return 0;
	}
	peer_case run = found->second(std::atoi(argv[2]));
	std::printf("ready %s %s\n", argv[2], version);
	std::fflush(stdout);
	while (std::scanf("%u", &repetitions) == 1) {
		peer_touch();
		auto start = std::chrono::steady_clock::now();
		while (repetitions--)
			run();
		std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
		std::printf("%lld\n", static_cast<long long>(taken.count()));
		std::fflush(stdout);
	}
	return 0;
}

#endif /* TESTS_BENCH_PEER_H */
