// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation tables: of which pages memory in pieces is made for the device, and where each of
 * them is. It is a part of tessera_gem.c, which includes it.
 */
#include <kunit/test.h>

/* Memory of a buffer: pieces of these addresses and lengths */
struct piece {
	dma_addr_t address;
	u32 length;
};

static struct sg_table *create_pieces(struct kunit *test, const struct piece *pieces, u32 count)
{
	struct sg_table *sgt = kunit_kzalloc(test, sizeof(*sgt), GFP_KERNEL);
	struct scatterlist *sgl = kunit_kcalloc(test, count, sizeof(*sgl), GFP_KERNEL);
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, sgt);
	KUNIT_ASSERT_NOT_NULL(test, sgl);
	sg_init_table(sgl, count);
	for (n = 0; n < count; n++) {
		sg_dma_address(&sgl[n]) = pieces[n].address;
		sg_dma_len(&sgl[n]) = pieces[n].length;
	}
	sgt->sgl = sgl;
	sgt->nents = count;
	sgt->orig_nents = count;
	return sgt;
}

static u32 page_shift_of(struct kunit *test, const struct piece *pieces, u32 count, u64 size)
{
	return largest_page_shift(create_pieces(test, pieces, count), size);
}

static void pages_are_as_large_as_memory_is_aligned(struct kunit *test)
{
	const struct piece piece = { 6 * SZ_1M, SZ_4M };

	KUNIT_EXPECT_EQ(test, 21, page_shift_of(test, &piece, 1, SZ_4M));
}

static void pages_are_no_larger_than_the_device_allows(struct kunit *test)
{
	const struct piece pieces[] = { { 0, SZ_2G }, { SZ_2G, SZ_2G } };

	KUNIT_EXPECT_EQ(test, TESSERA_PAGE_MAX_SHIFT, page_shift_of(test, pieces, 2, SZ_4G));
}

static void pages_are_no_larger_than_the_buffer(struct kunit *test)
{
	const struct piece piece = { 0, SZ_64K };

	KUNIT_EXPECT_EQ(test, 16, page_shift_of(test, &piece, 1, SZ_64K));
}

static void pieces_that_follow_on_are_one(struct kunit *test)
{
	const struct piece pieces[] = { { SZ_2M, SZ_4K }, { SZ_2M + SZ_4K, SZ_2M - SZ_4K } };

	KUNIT_EXPECT_EQ(test, 21, page_shift_of(test, pieces, 2, SZ_2M));
}

static void piece_that_begins_within_a_page_makes_pages_smaller(struct kunit *test)
{
	const struct piece pieces[] = { { SZ_2M, SZ_64K }, { SZ_8M, SZ_2M } };

	KUNIT_EXPECT_EQ(test, 16, page_shift_of(test, pieces, 2, SZ_2M + SZ_64K));
}

static void less_memory_than_the_buffer_has_no_pages(struct kunit *test)
{
	const struct piece piece = { SZ_2M, SZ_2M };

	KUNIT_EXPECT_EQ(test, 0, page_shift_of(test, &piece, 1, SZ_2M + SZ_4K));
}

/* Huge pages all over memory, each beyond what 32 bits can count */
#define LARGE_SIZE	(8ULL * SZ_1G)
#define LARGE_PAGES	(LARGE_SIZE / SZ_2M)

static dma_addr_t large_page(u32 n)
{
	return (u64)SZ_4G + (u64)SZ_4M * ((n * 1237) % LARGE_PAGES);
}

static void buffer_of_8_gib_has_4096_pages_of_2_mib(struct kunit *test)
{
	struct piece *pieces = kunit_kcalloc(test, LARGE_PAGES, sizeof(*pieces), GFP_KERNEL);
	struct tessera_bo *bo = kunit_kzalloc(test, sizeof(*bo), GFP_KERNEL);
	struct sg_table *sgt;
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, pieces);
	KUNIT_ASSERT_NOT_NULL(test, bo);
	for (n = 0; n < LARGE_PAGES; n++)
		pieces[n] = (struct piece){ large_page(n), SZ_2M };
	sgt = create_pieces(test, pieces, LARGE_PAGES);
	bo->base.base.size = LARGE_SIZE;
	bo->page_shift = largest_page_shift(sgt, LARGE_SIZE);
	KUNIT_ASSERT_EQ(test, 21, bo->page_shift);
	bo->table = kunit_kcalloc(test, LARGE_PAGES, sizeof(*bo->table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bo->table);
	fill_table(bo, sgt);
	for (n = 0; n < LARGE_PAGES; n++)
		KUNIT_ASSERT_EQ(test, large_page(n), le64_to_cpu(bo->table[n]));
}

/* A piece of the memory has several pages, and a page several pieces */
static void pages_are_found_in_pieces_of_any_length(struct kunit *test)
{
	const struct piece pieces[] = {
		{ SZ_1G, SZ_8K }, { SZ_1G + SZ_8K, SZ_8K }, { SZ_2G, SZ_32K }, { SZ_512M, SZ_16K },
	};
	const u64 expected[] = { SZ_1G, SZ_2G, SZ_2G + SZ_16K, SZ_512M };
	struct sg_table *sgt = create_pieces(test, pieces, ARRAY_SIZE(pieces));
	struct tessera_bo *bo = kunit_kzalloc(test, sizeof(*bo), GFP_KERNEL);
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, bo);
	bo->base.base.size = SZ_64K;
	bo->page_shift = largest_page_shift(sgt, SZ_64K);
	KUNIT_ASSERT_EQ(test, 14, bo->page_shift);
	bo->table = kunit_kcalloc(test, ARRAY_SIZE(expected), sizeof(*bo->table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bo->table);
	fill_table(bo, sgt);
	for (n = 0; n < ARRAY_SIZE(expected); n++)
		KUNIT_EXPECT_EQ(test, expected[n], le64_to_cpu(bo->table[n]));
}

static struct kunit_case tessera_gem_cases[] = {
	KUNIT_CASE(pages_are_as_large_as_memory_is_aligned),
	KUNIT_CASE(pages_are_no_larger_than_the_device_allows),
	KUNIT_CASE(pages_are_no_larger_than_the_buffer),
	KUNIT_CASE(pieces_that_follow_on_are_one),
	KUNIT_CASE(piece_that_begins_within_a_page_makes_pages_smaller),
	KUNIT_CASE(less_memory_than_the_buffer_has_no_pages),
	KUNIT_CASE(buffer_of_8_gib_has_4096_pages_of_2_mib),
	KUNIT_CASE(pages_are_found_in_pieces_of_any_length),
	{ }
};

static struct kunit_suite tessera_gem_suite = {
	.name = "tessera_gem",
	.test_cases = tessera_gem_cases,
};

kunit_test_suite(tessera_gem_suite);
