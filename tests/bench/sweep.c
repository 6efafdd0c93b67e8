/* A plain sweep over an m,n,k board, to hold solver/pages.py against: the same index, the same
 * halves and pages, one permutation per (half, cell), and nothing clever. One core.
 *
 * Usage: sweep ROWS COLUMNS K GROUP < symmetries     (GROUP permutations of the cells, one a line)
 * Prints: seconds, places, score of the empty board, reached places with a win, a draw, a loss.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { UNREACHED = -128, HALF_BITS = 10 };

static int rows, columns, k, cells, group, line_count;
static int turn[512][32];
static uint32_t image[512][3][1 << HALF_BITS];
static uint32_t lines[256];
static int64_t choose[33][33];
static int32_t *rank_of; /* the place of a mask among masks of as many bits */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static uint32_t turned(int g, uint32_t set)
{
    return image[g][0][set & 1023] | image[g][1][set >> 10 & 1023] | image[g][2][set >> 20];
}

static int outside(uint32_t half, int *slot)
{
    int m = 0;
    for (int cell = 0; cell < cells; cell++)
        slot[cell] = half >> cell & 1 ? -1 : m++;
    return m;
}

static void add_line(int row, int column, int down, int right)
{
    int last_row = row + (k - 1) * down, last_column = column + (k - 1) * right;
    uint32_t line = 0;
    if (last_row >= rows || last_column >= columns || last_column < 0)
        return;
    for (int i = 0; i < k; i++)
        line |= 1u << ((row + i * down) * columns + column + i * right);
    for (int i = 0; i < line_count; i++)
        if (lines[i] == line)
            return;
    lines[line_count++] = line;
}

static void prepare(void)
{
    for (int n = 0; n <= 32; n++)
        for (int r = choose[n][0] = 1; r <= n; r++)
            choose[n][r] = choose[n - 1][r - 1] + (r < n ? choose[n - 1][r] : 0);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            add_line(row, column, 0, 1);
            add_line(row, column, 1, 0);
            add_line(row, column, 1, 1);
            add_line(row, column, 1, -1);
        }
    for (int g = 0; g < group; g++)
        for (int chunk = 0; chunk < 3; chunk++)
            for (int set = 1; set < 1 << HALF_BITS; set++) {
                int cell = HALF_BITS * chunk + __builtin_ctz(set);
                image[g][chunk][set] = image[g][chunk][set & (set - 1)] | (cell < cells ? 1u << turn[g][cell] : 0);
            }
    int32_t seen[33] = {0};
    rank_of = malloc(sizeof *rank_of << cells);
    for (uint32_t mask = 0; mask < 1u << cells; mask++)
        rank_of[mask] = seen[__builtin_popcount(mask)]++;
}

static int smallest_halves(int xs, uint32_t *halves)
{
    int found = 0;
    for (uint32_t half = 0; half < 1u << cells; half++) {
        if (__builtin_popcount(half) != xs)
            continue;
        int g = 1;
        while (g < group && turned(g, half) >= half)
            g++;
        if (g == group)
            halves[found++] = half;
    }
    return found;
}

static int find(uint32_t half, const uint32_t *halves, int count)
{
    int low = 0;
    while (low < count) {
        int middle = (low + count) / 2;
        if (halves[middle] < half)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static int masks_of(int m, int count, uint32_t *masks)
{
    int found = 0;
    for (uint32_t mask = 0; mask < 1u << m; mask++)
        if (__builtin_popcount(mask) == count)
            masks[found++] = mask;
    return found;
}

/* The score of a finished or unreachable place; 0 if play goes on there. */
static int settled(uint32_t half, const uint32_t *left, int lines_left, uint32_t mask, int x_to_move, int worth, int *score)
{
    uint32_t common = ~0u, x_common = ~0u;
    for (int i = 0; i < lines_left; i++)
        if ((left[i] & mask) == left[i])
            common &= left[i];
    for (int i = 0; i < line_count; i++)
        if ((lines[i] & half) == lines[i])
            x_common &= lines[i];
    if (common == ~0u && x_common == ~0u)
        return 0;
    if (common != ~0u)
        *score = x_to_move && common && x_common == ~0u ? -worth : UNREACHED;
    else
        *score = !x_to_move && x_common ? -worth : UNREACHED;
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    rows = atoi(argv[1]), columns = atoi(argv[2]), k = atoi(argv[3]), group = atoi(argv[4]);
    cells = rows * columns;
    for (int g = 0; g < group; g++)
        for (int cell = 0; cell < cells; cell++)
            if (scanf("%d", &turn[g][cell]) != 1)
                return 2;
    double start = now();
    prepare();
    int64_t places = 0, wins = 0, draws = 0, losses = 0;
    uint32_t *halves = malloc(sizeof *halves << cells), *next = malloc(sizeof *next << cells);
    uint32_t *a_masks = malloc(sizeof *a_masks << cells), *b_masks = malloc(sizeof *b_masks << cells);
    int8_t *next_a = NULL, *b = NULL;
    int next_count = 0, value = 0;
    for (int xs = (cells + 1) / 2; xs >= 0; xs--) {
        int count = smallest_halves(xs, halves), m = cells - xs;
        int64_t a_size = xs ? choose[m][xs - 1] : 0, b_size = 2 * xs <= cells ? choose[m][xs] : 0;
        int64_t next_size = m ? choose[m - 1][xs] : 0;
        int8_t *a = malloc(count * a_size + 1);
        b = realloc(b, b_size + 1);
        masks_of(m, xs - 1, a_masks);
        masks_of(m, xs, b_masks);
        for (int i = 0; i < count; i++) {
            int slot[32], child_slot[32], lines_left = 0;
            uint32_t left[256], low[1 << 7];
            static uint32_t high[1 << (32 - 7)];
            outside(halves[i], slot);
            for (int ln = 0; ln < line_count; ln++)
                if (!(lines[ln] & halves[i])) {
                    left[lines_left] = 0;
                    for (int cell = 0; cell < cells; cell++)
                        if (lines[ln] >> cell & 1)
                            left[lines_left] |= 1u << slot[cell];
                    lines_left++;
                }
            if (b_size) {
                for (int64_t p = 0; p < b_size; p++)
                    b[p] = 2 * xs == cells ? 0 : -127;
                for (int cell = 0; cell < cells && 2 * xs < cells; cell++) {
                    if (slot[cell] < 0)
                        continue;
                    uint32_t child = ~0u;
                    int best = 0;
                    for (int g = 0; g < group; g++)
                        if (turned(g, halves[i] | 1u << cell) < child)
                            child = turned(g, halves[i] | 1u << cell), best = g;
                    outside(child, child_slot);
                    const int8_t *page = next_a + find(child, next, next_count) * next_size;
                    uint32_t to[32] = {0};
                    for (int other = 0; other < cells; other++)
                        if (slot[other] >= 0 && other != cell)
                            to[slot[other]] = 1u << child_slot[turn[best][other]];
                    low[0] = high[0] = 0;
                    for (uint32_t set = 1; set < 1u << (m < 7 ? m : 7); set++)
                        low[set] = low[set & (set - 1)] | to[__builtin_ctz(set)];
                    for (uint32_t set = 1; m > 7 && set < 1u << (m - 7); set++)
                        high[set] = high[set & (set - 1)] | to[7 + __builtin_ctz(set)];
                    uint32_t taken = 1u << slot[cell];
                    for (int64_t p = 0; p < b_size; p++) {
                        uint32_t mask = b_masks[p];
                        if (mask & taken)
                            continue;
                        int score = -page[rank_of[low[mask & 127] | high[mask >> 7]]];
                        if (score > b[p])
                            b[p] = score;
                    }
                }
                for (int64_t p = 0; p < b_size; p++) {
                    int score;
                    if (settled(halves[i], left, lines_left, b_masks[p], 1, cells + 1 - 2 * xs, &score))
                        b[p] = score;
                    if (b[p] != UNREACHED)
                        wins += b[p] > 0, draws += b[p] == 0, losses += b[p] < 0;
                }
                value = b[0];
            }
            if (xs) {
                int8_t *page = a + i * a_size;
                for (int64_t p = 0; p < a_size; p++) {
                    int best = 2 * xs - 1 == cells ? 0 : -127, score;
                    if (settled(halves[i], left, lines_left, a_masks[p], 0, cells + 2 - 2 * xs, &score))
                        best = score;
                    else
                        for (uint32_t free = ~a_masks[p] & ((1u << m) - 1); free; free &= free - 1) {
                            score = -b[rank_of[a_masks[p] | (free & -free)]];
                            if (score > best)
                                best = score;
                        }
                    page[p] = best;
                    if (best != UNREACHED)
                        wins += best > 0, draws += best == 0, losses += best < 0;
                }
            }
        }
        places += count * (a_size + b_size);
        free(next_a);
        next_a = a;
        uint32_t *swap = next;
        next = halves, halves = swap, next_count = count;
    }
    printf("%.6f %lld %d %lld %lld %lld\n", now() - start, (long long)places, value, (long long)wins, (long long)draws,
           (long long)losses);
    return 0;
}
