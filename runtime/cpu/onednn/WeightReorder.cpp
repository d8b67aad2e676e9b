//===- WeightReorder.cpp - Reordering of weights between layouts ----------===//
#include "runtime/cpu/onednn/WeightReorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace brew::runtime {

using dnnl::memory;

namespace {

/// Number of rows and of columns of a tile.
constexpr std::int64_t kTileSide = 16;
/// Minimum number of bytes that a thread copies.
constexpr std::int64_t kMinThreadBytes = 16 << 10;

bool hasNoBlocks(const memory::desc &layout) {
  return layout.get_inner_nblks() == 0;
}

#if defined(__x86_64__)

/// Writes four rows of `from`, `fromStride` units apart, as columns of `to`.
inline void transpose4x4(const std::uint32_t *from, std::int64_t fromStride,
                         std::uint32_t *to, std::int64_t toStride) {
  auto row = [&](std::int64_t i) {
    return _mm_loadu_si128(
        reinterpret_cast<const __m128i *>(from + i * fromStride));
  };
  const __m128i a = row(0), b = row(1), c = row(2), d = row(3);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const __m128i ba = _mm_unpackhi_epi32(a, b), dc = _mm_unpackhi_epi32(c, d);
  auto store = [&](std::int64_t i, __m128i value) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i * toStride), value);
  };
  store(0, _mm_unpacklo_epi64(ab, cd));
  store(1, _mm_unpackhi_epi64(ab, cd));
  store(2, _mm_unpacklo_epi64(ba, dc));
  store(3, _mm_unpackhi_epi64(ba, dc));
}

/// Writes eight rows of `from` as columns of `to`.
inline void transpose8x8(const std::uint16_t *from, std::int64_t fromStride,
                         std::uint16_t *to, std::int64_t toStride) {
  __m128i row[8], pair[8], four[8];
  for (std::int64_t i = 0; i < 8; ++i)
    row[i] = _mm_loadu_si128(
        reinterpret_cast<const __m128i *>(from + i * fromStride));
  for (int i = 0; i < 4; ++i) {
    pair[i] = _mm_unpacklo_epi16(row[2 * i], row[2 * i + 1]);
    pair[i + 4] = _mm_unpackhi_epi16(row[2 * i], row[2 * i + 1]);
  }
  for (int i = 0; i < 8; i += 2) {
    four[i] = _mm_unpacklo_epi32(pair[i], pair[i + 1]);
    four[i + 1] = _mm_unpackhi_epi32(pair[i], pair[i + 1]);
  }
  auto store = [&](std::int64_t i, __m128i value) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i * toStride), value);
  };
  for (int i = 0; i < 2; ++i) // columns 4 * i to 4 * i + 3
    for (int j = 0; j < 2; ++j) {
      store(4 * i + 2 * j,
            _mm_unpacklo_epi64(four[4 * i + j], four[4 * i + 2 + j]));
      store(4 * i + 2 * j + 1,
            _mm_unpackhi_epi64(four[4 * i + j], four[4 * i + 2 + j]));
    }
}

inline void transposeTile(const std::uint32_t *from, std::int64_t fromStride,
                          std::uint32_t *to, std::int64_t toStride) {
  // This order writes complete cache lines.
  for (std::int64_t j = 0; j < kTileSide; j += 4)
    for (std::int64_t i = 0; i < kTileSide; i += 4)
      transpose4x4(from + i * fromStride + j, fromStride, to + j * toStride + i,
                   toStride);
}

inline void transposeTile(const std::uint16_t *from, std::int64_t fromStride,
                          std::uint16_t *to, std::int64_t toStride) {
  for (std::int64_t j = 0; j < kTileSide; j += 8)
    for (std::int64_t i = 0; i < kTileSide; i += 8)
      transpose8x8(from + i * fromStride + j, fromStride, to + j * toStride + i,
                   toStride);
}

/// Interleaves 16 columns of two rows.
inline void interleaveTile(const std::uint16_t *first,
                           const std::uint16_t *second, std::uint16_t *to) {
  for (int i = 0; i < kTileSide; i += 8) {
    const __m128i a =
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(first + i));
    const __m128i b =
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(second + i));
    auto *target = reinterpret_cast<__m128i *>(to + 2 * i);
    _mm_storeu_si128(target, _mm_unpacklo_epi16(a, b));
    _mm_storeu_si128(target + 1, _mm_unpackhi_epi16(a, b));
  }
}

#else

template <typename Unit>
void transposeTile(const Unit *from, std::int64_t fromStride, Unit *to,
                   std::int64_t toStride) {
  for (std::int64_t j = 0; j < kTileSide; ++j)
    for (std::int64_t i = 0; i < kTileSide; ++i)
      to[j * toStride + i] = from[i * fromStride + j];
}

inline void interleaveTile(const std::uint16_t *first,
                           const std::uint16_t *second, std::uint16_t *to) {
  for (std::int64_t i = 0; i < kTileSide; ++i) {
    to[2 * i] = first[i];
    to[2 * i + 1] = second[i];
  }
}

#endif

} // namespace

std::optional<WeightReorder> WeightReorder::between(const memory::desc &from,
                                                    const memory::desc &to) {
  WeightReorder result;
  result.packs = hasNoBlocks(from);
  const memory::desc &plain = result.packs ? from : to,
                     &blocked = result.packs ? to : from;
  if (from.get_dims() != to.get_dims() ||
      from.get_data_type() != to.get_data_type() ||
      from.get_format_kind() != memory::format_kind::blocked ||
      to.get_format_kind() != memory::format_kind::blocked ||
      !hasNoBlocks(plain) || hasNoBlocks(blocked) ||
      !result.initialise(plain, blocked))
    return std::nullopt;
  return result;
}

bool WeightReorder::initialise(const memory::desc &plain,
                               const memory::desc &blocked) {
  const memory::dims dims = plain.get_dims(), strides = plain.get_strides(),
                     outerStrides = blocked.get_strides(),
                     paddedDims = blocked.get_padded_dims(),
                     blockSizes = blocked.get_inner_blks(),
                     blockedDims = blocked.get_inner_idxs();
  const memory::data_type type = plain.get_data_type();
  const bool isWide = type == memory::data_type::f32;
  if ((!isWide && type != memory::data_type::bf16) || dims.size() != 4 ||
      strides[1] != 1)
    return false;
  rows = dims[0];
  columns = dims[1];
  paddedRows = paddedDims[0];
  paddedColumns = paddedDims[1];
  height = dims[2];
  width = dims[3];
  plainRowStride = strides[0];
  // oneDNN may report any stride for a dimension of extent 1; it is not used.
  plainHeightStride = height > 1 ? strides[2] : 0;
  plainWidthStride = width > 1 ? strides[3] : 0;
  blockedHeightStride = height > 1 ? outerStrides[2] : 0;
  blockedWidthStride = width > 1 ? outerStrides[3] : 0;
  rowBlockStride = outerStrides[0];
  columnBlockStride = outerStrides[1];
  unitBytes = isWide ? 4 : 2;
  auto hasBlocksOf = [&](memory::dim first, memory::dim second) {
    return blockedDims == memory::dims{first, second};
  };
  if (blockedDims == memory::dims{0}) { // Acdb48a
    rowBlock = blockSizes[0];
  } else if (hasBlocksOf(1, 0)) { // ABcd16b16a
    columnBlock = blockSizes[0];
    rowBlock = columnStride = blockSizes[1];
    if (!isWide && rowBlock == 2) { // BcdA48b2a
      form = Form::Interleaved;
      return packs && columnBlock % kTileSide == 0;
    }
  } else if (hasBlocksOf(0, 1) && !isWide && blockSizes[1] == 2 &&
             columns % 2 == 0) {
    // AcdB48a2b: pairs of bf16 are units, if all strides are even.
    rowBlock = blockSizes[0];
    unitBytes = 4;
    columns /= 2;
    paddedColumns /= 2;
    for (std::int64_t *stride :
         {&plainRowStride, &plainHeightStride, &plainWidthStride,
          &blockedHeightStride, &blockedWidthStride, &rowBlockStride,
          &columnBlockStride}) {
      if (*stride % 2)
        return false;
      *stride /= 2;
    }
  } else {
    return false;
  }
  return rowBlock % kTileSide == 0 &&
         (columnBlock == 1 || columnBlock == kTileSide);
}

/// Copies a tile at an edge of the matrix. Blocks contain zeros outside of the
/// matrix.
template <typename Unit>
void WeightReorder::transposeEdge(Unit *plain, Unit *blocked, std::int64_t row,
                                  std::int64_t column) const {
  for (std::int64_t j = column; j < std::min(column + kTileSide, paddedColumns);
       ++j)
    for (std::int64_t i = 0; i < kTileSide; ++i) {
      const bool isInside = row + i < rows && j < columns;
      Unit &unit = blocked[blockedColumn(j) + i];
      if (packs)
        unit = isInside ? plain[i * plainRowStride + j] : Unit(0);
      else if (isInside)
        plain[i * plainRowStride + j] = unit;
    }
}

/// Copies groups [begin, end) of 16 rows, of all matrices.
template <typename Unit>
void WeightReorder::transpose(std::int64_t begin, std::int64_t end,
                              const std::byte *from, std::byte *to) const {
  // Only one of them is written.
  auto *plain =
      reinterpret_cast<Unit *>(packs ? const_cast<std::byte *>(from) : to);
  auto *blocked =
      reinterpret_cast<Unit *>(packs ? to : const_cast<std::byte *>(from));
  const std::int64_t groups = paddedRows / kTileSide;
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t row = item % groups * kTileSide,
                       position = item / groups;
    Unit *plainRows = plain + position / width * plainHeightStride +
                      position % width * plainWidthStride +
                      row * plainRowStride;
    Unit *blockedRows = blocked + position / width * blockedHeightStride +
                        position % width * blockedWidthStride +
                        row / rowBlock * rowBlockStride + row % rowBlock;
    const std::int64_t step =
        columnBlock == 1 ? columnBlockStride : columnStride;
    for (std::int64_t column = 0; column < paddedColumns; column += kTileSide) {
      Unit *tile = blockedRows + blockedColumn(column);
      if (row + kTileSide > rows || column + kTileSide > columns)
        transposeEdge(plainRows, blockedRows, row, column);
      else if (packs)
        transposeTile(plainRows + column, plainRowStride, tile, step);
      else
        transposeTile(tile, step, plainRows + column, plainRowStride);
    }
  }
}

/// Copies pairs [begin, end) of rows, of all matrices.
void WeightReorder::interleave(std::int64_t begin, std::int64_t end,
                               const std::byte *from, std::byte *to) const {
  const auto *plain = reinterpret_cast<const std::uint16_t *>(from);
  auto *blocked = reinterpret_cast<std::uint16_t *>(to);
  const std::int64_t groups = paddedRows / 2;
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t row = item % groups * 2, position = item / groups;
    const std::uint16_t *first = plain + position / width * plainHeightStride +
                                 position % width * plainWidthStride +
                                 row * plainRowStride;
    std::uint16_t *target = blocked + position / width * blockedHeightStride +
                            position % width * blockedWidthStride +
                            row / 2 * rowBlockStride;
    for (std::int64_t column = 0; column < paddedColumns; column += kTileSide) {
      std::uint16_t *tile = target + blockedColumn(column);
      if (row + 2 <= rows && column + kTileSide <= columns) {
        interleaveTile(first + column, first + plainRowStride + column, tile);
        continue;
      }
      for (std::int64_t j = 0; j < 2 * kTileSide; ++j)
        tile[j] = row + j % 2 < rows && column + j / 2 < columns
                      ? first[j % 2 * plainRowStride + column + j / 2]
                      : std::uint16_t(0);
    }
  }
}

void WeightReorder::run(const Threads &workers, const std::byte *from,
                        std::byte *to) const {
  const std::int64_t group = form == Form::Interleaved ? 2 : kTileSide;
  const auto bytes =
      group * paddedColumns * static_cast<std::int64_t>(unitBytes);
  const std::int64_t grain = std::max<std::int64_t>(1, kMinThreadBytes / bytes);
  workers.parallelFor(height * width * (paddedRows / group), grain,
                      [&](std::int64_t begin, std::int64_t end) {
                        if (form == Form::Interleaved)
                          interleave(begin, end, from, to);
                        else if (unitBytes == 4)
                          transpose<std::uint32_t>(begin, end, from, to);
                        else
                          transpose<std::uint16_t>(begin, end, from, to);
                      });
}

} // namespace brew::runtime
