// SPDX-License-Identifier: MIT
/*
 * Runs a fuzz target a fixed number of times without libFuzzer, on mutations of its seeds. Run
 * number k of seed s is run 0 of seed s + k: what is printed before a crash replays it. Speaks TAP.
 *
 *	fuzz_map [--seed N] [--count N] [FILE]...	files are run as they are, instead
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_BYTES	4096
#define MAX_MUTATIONS	6

struct input {
	size_t size;
	uint8_t bytes[MAX_BYTES];
};

static uint64_t state;
static uint64_t current_seed;

/* splitmix64 (Steele, Lea, Flood) */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static size_t below(size_t limit)
{
	return limit ? next() % limit : 0;
}

static const char *pick_seed(void)
{
	size_t count = 0;

	while (fuzz_seeds[count])
		count++;
	return fuzz_seeds[below(count)];
}

/* Puts bytes in at a place, as far as there is room. */
static void insert(struct input *input, size_t at, const void *bytes, size_t size)
{
	if (size > MAX_BYTES - input->size)
		size = MAX_BYTES - input->size;
	memmove(input->bytes + at + size, input->bytes + at, input->size - at);
	memcpy(input->bytes + at, bytes, size);
	input->size += size;
}

static void erase(struct input *input, size_t at, size_t size)
{
	if (size > input->size - at)
		size = input->size - at;
	memmove(input->bytes + at, input->bytes + at + size, input->size - at - size);
	input->size -= size;
}

static void mutate(struct input *input)
{
	static const char characters[] = "()[]{},:;|+-*/%<>=&#@.0123456789abchnwxNCHW_ \t\n\x80";
	size_t at = below(input->size + 1), from = below(input->size + 1), length = below(12);
	uint8_t copy[16];
	const char *seed;
	char digit;

	switch (below(8)) {
	case 0:
		if (at < input->size)
			input->bytes[at] ^= 1 << below(8);
		break;
	case 1:
		insert(input, at, &characters[below(sizeof(characters) - 1)], 1);
		break;
	case 2:
		if (at < input->size)
			input->bytes[at] = characters[below(sizeof(characters) - 1)];
		break;
	case 3:
		erase(input, at, 1 + below(8));
		break;
	case 4:
		if (length > input->size - from)
			length = input->size - from;
		memcpy(copy, input->bytes + from, length);
		insert(input, at, copy, length);
		break;
	case 5:
		seed = pick_seed();
		length = strlen(seed);
		from = below(length + 1);
		insert(input, at, seed + from, below(length - from + 1));
		break;
	case 6:
		digit = '0' + below(10);
		while (length--)
			insert(input, at, &digit, 1);
		break;
	default:
		erase(input, at, input->size);
	}
}

static void run_mutation(void)
{
	struct input *input = malloc(sizeof(*input));
	const char *seed = pick_seed();
	size_t mutations = below(MAX_MUTATIONS + 1);
	uint8_t *exact;

	if (!input)
		abort();
	input->size = 0;
	insert(input, 0, seed, strlen(seed));
	while (mutations--)
		mutate(input);
	/* In memory of its own size, so that a byte read too far is seen. */
	exact = malloc(input->size);
	if (input->size && !exact)
		abort();
	if (input->size)
		memcpy(exact, input->bytes, input->size);
	LLVMFuzzerTestOneInput(exact, input->size);
	free(exact);
	free(input);
}

static void tell_seed(int signal_number)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "crashed at --seed %" PRIu64 " --count 1\n",
			      current_seed);

	if (write(STDERR_FILENO, text, length) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t size = 0, capacity = 0;

	if (!file) {
		perror(path);
		return 1;
	}
	do {
		if (size == capacity) {
			capacity = capacity ? 2 * capacity : 65536;
			bytes = realloc(bytes, capacity);
			if (!bytes)
				abort();
		}
		size += fread(bytes + size, 1, capacity - size, file);
	} while (!feof(file) && !ferror(file));
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = time(NULL), count = 20000, k;
	int argument, num_files = 0, status = 0;

	for (argument = 1; argument < argc; argument++) {
		if (!strcmp(argv[argument], "--seed") && argument + 1 < argc) {
			seed = strtoull(argv[++argument], NULL, 0);
		} else if (!strcmp(argv[argument], "--count") && argument + 1 < argc) {
			count = strtoull(argv[++argument], NULL, 0);
		} else {
			status |= run_file(argv[argument]);
			num_files++;
		}
	}
	if (num_files)
		return status;
	printf("1..1\n# seed %" PRIu64 "\n", seed);
	fflush(stdout);
	signal(SIGABRT, tell_seed);
	for (k = 0; k < count; k++) {
		current_seed = seed + k;
		state = current_seed;
		run_mutation();
	}
	printf("ok 1 - %" PRIu64 " executions\n", count);
	return 0;
}
