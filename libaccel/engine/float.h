/* SPDX-License-Identifier: MIT */
/*
 * Floating point in software where C has no type for it, or where an operation would round twice:
 * f16, bf16, and sums rounded to odd. The host's float and double are IEEE 754's and round to
 * nearest even. A sum that is rounded to odd in double, and then to nearest in a type that is at
 * least two bits narrower, is rounded once (S. Boldo, G. Melquiond, "Emulation of FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008).
 */
#ifndef TESSERA_ENGINE_FLOAT_H
#define TESSERA_ENGINE_FLOAT_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "the engine needs float and double arithmetic that rounds each result to its type"
#endif

#define ENGINE_NAN_F16	0x7e00u
#define ENGINE_NAN_BF16	0x7fc0u
#define ENGINE_NAN_F32	0x7fc00000u
#define ENGINE_NAN_F64	0x7ff8000000000000ull

static inline uint64_t engine_bits_of_f64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double engine_f64_of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float engine_f32_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The one NaN that results are, or the value. */
static inline double engine_f64_result(double value)
{
	return value != value ? engine_f64_of_bits(ENGINE_NAN_F64) : value;
}

static inline float engine_f32_result(float value)
{
	return value != value ? engine_f32_of_bits(ENGINE_NAN_F32) : value;
}

static inline double engine_f64_of_bf16(uint16_t bits)
{
	return engine_f32_of_bits((uint32_t)bits << 16);
}

static inline double engine_f64_of_f16(uint16_t bits)
{
	uint64_t sign = (uint64_t)(bits & 0x8000) << 48;
	uint64_t magnitude = bits & 0x7fff;
	double value;

	/* the same digits as a double, with an exponent that is 1023 - 15 too small; exact */
	if (magnitude >= 0x7c00)
		value = engine_f64_of_bits(0x7ff0000000000000 | (magnitude & 0x3ff) << 42);
	else if (magnitude >= 0x0400)
		value = engine_f64_of_bits((magnitude << 42) + ((uint64_t)(1023 - 15) << 52));
	else
		value = (double)magnitude * 0x1p-24;
	return engine_f64_of_bits(engine_bits_of_f64(value) | sign);
}

/*
 * Rounds a double to a type of exponent_bits and fraction_bits (its sign above them), once, to
 * nearest even; what is too large becomes an infinity, and a NaN the positive quiet one.
 */
static inline uint16_t engine_narrow_f64(double value, int exponent_bits, int fraction_bits)
{
	const int bias = (1 << (exponent_bits - 1)) - 1;
	const uint64_t infinity = ((1ull << exponent_bits) - 1) << fraction_bits;
	uint64_t bits = engine_bits_of_f64(value);
	uint64_t sign = bits >> 63 << (exponent_bits + fraction_bits);
	int exponent = (int)(bits >> 52 & 0x7ff) - 1023 + bias;
	uint64_t fraction = bits & 0xfffffffffffff;
	uint64_t kept, dropped, half;
	int shift = 52 - fraction_bits;

	if (exponent == 0x7ff - 1023 + bias)
		return (uint16_t)(fraction ? infinity | 1ull << (fraction_bits - 1) :
					     sign | infinity);
	if (exponent >= 1) {
		fraction |= (uint64_t)exponent << 52;
	} else {
		/* subnormal: the hidden bit is written out and moves right */
		fraction |= 1ull << 52;
		shift += 1 - exponent;
	}
	/* so far below that nothing is left but the sign; zeros and subnormal doubles as well */
	if (shift > 54)
		return (uint16_t)sign;
	kept = fraction >> shift;
	dropped = fraction & ((1ull << shift) - 1);
	half = 1ull << (shift - 1);
	/* a carry goes on into the exponent, as it should */
	kept += dropped > half || (dropped == half && (kept & 1));
	return (uint16_t)(sign | (kept < infinity ? kept : infinity));
}

static inline uint16_t engine_f16_of_f64(double value)
{
	return engine_narrow_f64(value, 5, 10);
}

static inline uint16_t engine_bf16_of_f64(double value)
{
	return engine_narrow_f64(value, 8, 7);
}

/* a + b, rounded to odd. */
static inline double engine_add_odd_f64(double a, double b)
{
	double sum = a + b;
	/* the error of the sum, exactly (D. Knuth, TAOCP 4.2.2, theorem B) */
	double of_b = sum - a;
	double error = (a - (sum - of_b)) + (b - of_b);
	uint64_t bits = engine_bits_of_f64(sum);

	/* with an infinity or a NaN the error is a NaN, and neither greater nor less */
	if ((error > 0 || error < 0) && !(bits & 1))
		bits += (error > 0) == (sum > 0) ? 1 : -1ull;
	return engine_f64_of_bits(bits);
}

/* An integer as a double, rounded to odd. */
static inline double engine_odd_f64_of_u64(uint64_t value)
{
	uint64_t dropped = value & 0x7ff;

	if (value >> 53)
		value = (value - dropped) | (dropped ? 0x800 : 0);
	return (double)value;
}

static inline double engine_odd_f64_of_i64(int64_t value)
{
	return value < 0 ? -engine_odd_f64_of_u64(-(uint64_t)value) :
			   engine_odd_f64_of_u64((uint64_t)value);
}

/* To an integer, nearest even. Adding 2^52 leaves no bits for a fraction. */
static inline double engine_round_f64(double value)
{
	const double whole = 0x1p52;

	if (!(value > -whole && value < whole))
		return value;
	return value < 0 ? (value - whole) + whole : (value + whole) - whole;
}

/* To an integer, toward zero. */
static inline double engine_truncate_f64(double value)
{
	if (!(value > -0x1p52 && value < 0x1p52))
		return value;
	return (double)(int64_t)value;
}

/* The lowest 64 bits of an integer in two's complement; 0 for NaNs and infinities. */
static inline uint64_t engine_wrap_f64(double value)
{
	uint64_t bits = engine_bits_of_f64(value);
	int shift = (int)(bits >> 52 & 0x7ff) - 1023 - 52;
	uint64_t digits = (bits & 0xfffffffffffff) | 1ull << 52;

	if (value > -0x1p63 && value < 0x1p63)
		return (uint64_t)(int64_t)value;
	if (shift >= 64)
		return 0;
	digits <<= shift;
	return bits >> 63 ? -digits : digits;
}

#endif /* TESSERA_ENGINE_FLOAT_H */
