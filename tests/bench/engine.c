/* The engine's search as a C programmer would write it, to hold the kernels in solver/engine against: step by step the
 * same algorithm, so that both visit the same nodes. board.py, threats.py and kernels.py there say what each is good for.
 *
 * Usage: engine TABLE_BITS < game and positions     (tests/bench/bench_engine.py writes them)
 *
 * The game: cells, misere (0 or 1), width; own weights, other's weights, worths, 6 each; the number of lines, each
 * line's length and cells; for each cell how many cells are near it, and which; two Zobrist numbers for each cell.
 * Then positions, until the input ends: limit of nodes, deepest search, how many cells the side to move has, those
 * cells, how many the other side has, those cells. Each starts with an empty table.
 *
 * Prints after each search of a position: plies ahead, value, best cell or -1, nodes so far, CPU seconds so far; its
 * value counts only if it was not stopped by the limit. After the last one it prints an empty line.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    MAX_CELLS = 400,
    MAX_WORDS = (MAX_CELLS + 63) / 64,
    MAX_PLIES = 120,
    KINDS = 5,      /* lines that miss up to so many cells are counted */
    FIELD = 12,     /* bits of each count of a cell */
    MATE = 30000,   /* a win in n plies is worth n less */
    WON = MATE - 1000,
    UNDECIDED = 1 << 21,
    INFINITE = 1 << 20,
    WINDOW = 40,    /* how far from the last value the next one is looked for at first */
    NEAR_LEAVES = 3, /* with so few plies left, so much more a ply than needed is enough */
    SURE = 80,
    CHECKS = -2,    /* how far below depth 0 threats are followed */
    TRIED_MOST = 2048
};

enum bound { NONE, EXACT, AT_LEAST, AT_MOST };
enum moves { ALL, DEFENCES, THREATS };   /* defences: and own threats */

typedef uint64_t Set[MAX_WORDS];

typedef struct {
    int stones[2];
    int gap;              /* the exclusive or of the empty cells */
    int length;
    const int16_t *cells;
} Line;

typedef struct {
    uint64_t counts[2];   /* for each side, open lines by what they miss; those that miss fewest stand highest */
    int history[2];
} Cell;

typedef struct {
    Set near, defence;
    int killer[2];
    int64_t moves[MAX_CELLS];
} Ply;

typedef struct {
    uint64_t key;
    int64_t value : 32, depth : 12, move : 12, bound : 8;
} Entry;

static int cells, words, width;
static bool misere;
static int weight[2][KINDS + 1], worth[KINDS + 1];
static Line *lines, **through[MAX_CELLS];
static int line_count, through_count[MAX_CELLS];
static Set near[MAX_CELLS];
static uint64_t zobrist[MAX_CELLS][2];

static Cell board[MAX_CELLS];
static int open[2][KINDS + 1];
static Set taken;
static uint64_t key;
static int empty;
static Ply plies[MAX_PLIES + 2];
static Entry *table;
static size_t entries;
static int64_t nodes, limit;
static bool stopped;
static int root_best;

static inline int max(int a, int b) { return a > b ? a : b; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline bool holds(const uint64_t *set, int cell) { return set[cell >> 6] >> (cell & 63) & 1; }
static inline void add(uint64_t *set, int cell) { set[cell >> 6] |= 1ull << (cell & 63); }
static inline uint64_t unit(int missing) { return 1ull << FIELD * (KINDS - missing); }
static inline int count_of(uint64_t counts, int missing) { return counts >> FIELD * (KINDS - missing) & 0xFFF; }

static inline int missing_of(const Line *line, int side) /* a line with stones of the other side misses none */
{
    return line->stones[1 - side] ? 0 : line->length - line->stones[side];
}

static inline void change_counts(const Line *line, int side, uint64_t change)
{
    for (int i = 0; i < line->length; i++)
        board[line->cells[i]].counts[side] += change;
}

static inline void count_line(const Line *line, int side, int missing, int sign)
{
    if (missing > KINDS)
        return;
    change_counts(line, side, sign * unit(missing));
    open[side][missing] += sign;
}

static inline void recount(const Line *line, int side, int before, int after)
{
    if (min(before, after) > KINDS)
        return;
    change_counts(line, side, (after <= KINDS ? unit(after) : 0) - (before <= KINDS ? unit(before) : 0));
    if (after <= KINDS)
        open[side][after]++;
    if (before <= KINDS)
        open[side][before]--;
}

static void place(int cell, int side)
{
    for (int i = 0; i < through_count[cell]; i++) {
        Line *line = through[cell][i];
        int own = line->stones[side]++, other = line->stones[1 - side];
        line->gap ^= cell;
        if (!other) {
            recount(line, side, line->length - own, line->length - own - 1);
            if (!own)
                count_line(line, 1 - side, line->length, -1);
        } else if (!own)
            count_line(line, 1 - side, line->length - other, -1);
    }
    taken[cell >> 6] |= 1ull << (cell & 63);
    key ^= zobrist[cell][side];
    empty--;
}

static void take_back(int cell, int side)
{
    for (int i = 0; i < through_count[cell]; i++) {
        Line *line = through[cell][i];
        int own = --line->stones[side], other = line->stones[1 - side];
        line->gap ^= cell;
        if (!other) {
            recount(line, side, line->length - own - 1, line->length - own);
            if (!own)
                count_line(line, 1 - side, line->length, 1);
        } else if (!own)
            count_line(line, 1 - side, line->length - other, 1);
    }
    taken[cell >> 6] &= ~(1ull << (cell & 63));
    key ^= zobrist[cell][side];
    empty++;
}

/* The cell that completes a line of a side; *second is another such cell or -1. `last` is its last move, or -1. */
static int find_gaps(int side, int last, int *second)
{
    int first = *second = -1;
    if (last >= 0) {
        for (int i = 0; i < through_count[last]; i++) {
            const Line *line = through[last][i];
            if (missing_of(line, side) != 1)
                continue;
            if (first < 0)
                first = line->gap;
            else if (line->gap != first) {
                *second = line->gap;
                return first;
            }
        }
        if (first >= 0)
            return first;
    }
    for (int cell = 0; cell < cells; cell++)
        if (!holds(taken, cell) && board[cell].counts[side] >= unit(1)) {
            if (first >= 0) {
                *second = cell;
                return first;
            }
            first = cell;
        }
    return first;
}

static bool forks(int cell, int side)
{
    if (count_of(board[cell].counts[side], 2) < 2)
        return false;
    int gap = -1;
    for (int i = 0; i < through_count[cell]; i++) {
        const Line *line = through[cell][i];
        if (missing_of(line, side) != 2)
            continue;
        if (gap < 0)
            gap = line->gap ^ cell;
        else if ((line->gap ^ cell) != gap)
            return true;
    }
    return false;
}

static int find_fork(int side, const uint64_t *near_cells)
{
    for (int word = 0; word < words; word++)
        for (uint64_t left = near_cells[word] & ~taken[word]; left; left &= left - 1) {
            int cell = word << 6 | __builtin_ctzll(left);
            if (forks(cell, side))
                return cell;
        }
    return -1;
}

/* Keep of the defences the cells that stop one more fork: its cell, and its gaps if there are but two. */
static void stop_fork(int cell, int side, uint64_t *defence, bool first)
{
    int one = -1, two = -1;
    bool more = false;
    for (int i = 0; i < through_count[cell]; i++) {
        const Line *line = through[cell][i];
        if (missing_of(line, side) != 2)
            continue;
        int gap = line->gap ^ cell;
        if (one < 0)
            one = gap;
        else if (gap != one) {
            if (two < 0)
                two = gap;
            else if (gap != two)
                more = true;
        }
    }
    Set stops = {0};
    add(stops, cell);
    if (!more) {
        add(stops, one);
        add(stops, two);
    }
    for (int word = 0; word < words; word++)
        defence[word] = first ? stops[word] : defence[word] & stops[word];
}

static int find_defences(int side, const uint64_t *near_cells, uint64_t *defence)
{
    int found = 0;
    for (int word = 0; word < words; word++)
        for (uint64_t left = near_cells[word] & ~taken[word]; left; left &= left - 1) {
            int cell = word << 6 | __builtin_ctzll(left);
            if (forks(cell, side))
                stop_fork(cell, side, defence, !found++);
        }
    return found;
}

static int worth_of(int cell, int side)
{
    uint64_t counts = board[cell].counts[side];
    int value = 0;
    for (int missing = 2; missing <= KINDS; missing++)
        value += count_of(counts, missing) * worth[missing];
    return value;
}

static int estimate(int side)
{
    int value = 0;
    for (int missing = 2; missing <= KINDS; missing++)
        value += open[side][missing] * weight[0][missing] - open[1 - side][missing] * weight[1][missing];
    return value;
}

static int list_moves(Ply *ply, int side, enum moves only, int likely)
{
    int count = 0;
    for (int word = 0; word < words; word++)
        for (uint64_t left = ply->near[word] & ~taken[word]; left; left &= left - 1) {
            int cell = word << 6 | __builtin_ctzll(left);
            uint64_t own = board[cell].counts[side];
            if (only && !(only == DEFENCES && holds(ply->defence, cell)) && own < unit(2))
                continue;
            int64_t score;
            if (misere) {
                if (own >= unit(1))
                    continue;
                score = max(100000 - 2 * worth_of(cell, side) - worth_of(cell, 1 - side), 0);
            } else {
                score = 2 * worth_of(cell, side) + worth_of(cell, 1 - side) + (board[cell].history[side] >> 4);
                if (cell == ply->killer[0] || cell == ply->killer[1])
                    score += 300;
            }
            if (cell == likely)
                score += 1 << 30;
            ply->moves[count++] = score << 9 | cell;
        }
    return count;
}

static int list_all(Ply *ply, int side, enum moves only, int likely)
{
    int count = list_moves(ply, side, only, likely);
    if (count || only || misere)
        return count;
    for (int cell = 0; cell < cells; cell++)
        add(ply->near, cell);
    return list_moves(ply, side, ALL, likely);
}

static int next_move(int64_t *moves, int i, int count)
{
    int best = i;
    for (int j = i + 1; j < count; j++)
        if (moves[j] > moves[best])
            best = j;
    int64_t move = moves[best];
    moves[best] = moves[i];
    moves[i] = move;
    return move & 511;
}

static Entry *bucket_of(uint64_t position)
{
    return table + ((position ^ position >> 29) & (entries - 2));
}

static const Entry *look_up(uint64_t position)
{
    const Entry *entry = bucket_of(position);
    entry += entry->key != position;
    return entry->key == position && entry->bound ? entry : NULL;
}

static void remember(uint64_t position, int value, enum bound bound, int depth, int move)
{
    Entry *entry = bucket_of(position);
    entry += entry->key != position && entry->bound && entry->depth > depth;
    *entry = (Entry){.key = position, .value = value, .depth = depth, .move = move, .bound = bound};
}

/* How many moves are tried: fewer where little depth is left. */
static int tried_at(int depth)
{
    return depth > 4 ? width : 6 + 4 * (depth > 0 ? depth : 0);
}

/* By how many plies move number i is looked into less at first. */
static int reduced(int i, int depth)
{
    if (!i || depth < 2)
        return 0;
    return 1 + (i >= 3 && depth >= 4) + (i >= 6 && depth >= 6) + (i >= 12 && depth >= 8);
}

static int from_here(int value, int ply)
{
    return value + ply * ((value > WON) - (value < -WON));
}

/* Whether what is remembered of a position decides it under this window; *value is its value. */
static bool decides(const Entry *entry, int depth, int ply, int alpha, int beta, int *value)
{
    bool lasting = (entry->value > WON && entry->bound == AT_LEAST) || (entry->value < -WON && entry->bound == AT_MOST);
    *value = from_here(entry->value, -ply);
    if (!lasting && entry->depth < depth)
        return false;
    return entry->bound == EXACT || (entry->bound == AT_LEAST && *value >= beta)
        || (entry->bound == AT_MOST && *value <= alpha);
}

static int see(int side, int last, int ply, int *cell)
{
    int second;
    *cell = -1;
    if (!empty)
        return 0;
    if (misere)
        return UNDECIDED;
    if (open[side][1]) {
        if (!ply)
            *cell = find_gaps(side, -1, &second);
        return MATE - ply - 1;
    }
    if (open[1 - side][1]) {
        *cell = find_gaps(1 - side, last, &second);
        return second >= 0 ? ply + 2 - MATE : UNDECIDED;
    }
    if (open[side][2] >= 2) {
        *cell = find_fork(side, plies[ply].near);
        if (*cell >= 0)
            return MATE - ply - 3;
    }
    return UNDECIDED;
}

static void learn(Ply *ply, int cell, int side, int depth)
{
    int *tried = &board[cell].history[side];
    *tried += (TRIED_MOST - *tried) * min(depth * depth, 64) >> 9;
    if (ply->killer[0] != cell) {
        ply->killer[1] = ply->killer[0];
        ply->killer[0] = cell;
    }
}

/* Whether the estimate of a position is taken for its value. */
static bool is_enough(int side, enum moves only, int value, int depth, int alpha, int beta)
{
    if (depth > 0 && only == ALL)
        return value - SURE * depth >= beta && beta - alpha == 1 && depth <= NEAR_LEAVES && !misere;
    if (depth > 0 || (only && depth > CHECKS))
        return false;
    return only || value >= beta || depth <= CHECKS || misere || open[side][2] < 2;
}

static int search(int side, int last, int alpha, int beta, int depth, int ply)
{
    if (++nodes >= limit)
        stopped = true;
    if (stopped)
        return 0;
    Ply *here = &plies[ply];
    int other = 1 - side, forced;
    int value = see(side, last, ply, &forced);
    if (value != UNDECIDED && (ply || value > 0)) {
        if (!ply)
            root_best = forced;
        return value;
    }
    if (ply >= MAX_PLIES)
        return estimate(side);
    alpha = max(alpha, ply + 2 - MATE);
    beta = min(beta, MATE - ply - 3);
    if (alpha >= beta && ply)
        return alpha;

    uint64_t position = key ^ side;
    const Entry *entry = look_up(position);
    int likely = entry ? entry->move : -1;
    if (entry && ply && decides(entry, depth, ply, alpha, beta, &value))
        return value;

    enum moves only = ALL;
    if (forced < 0 && open[other][2] >= 2 && !misere && find_defences(other, here->near, here->defence))
        only = DEFENCES;
    int best = -INFINITE, floor = alpha;
    if (forced < 0) {
        value = estimate(side);
        if (ply && is_enough(side, only, value, depth, alpha, beta))
            return value;
        if (depth <= 0 && only == ALL) {
            best = value;
            floor = max(alpha, value);
            only = THREATS;
        }
    }

    int count = 1;
    if (forced >= 0)
        here->moves[0] = forced;
    else {
        count = list_all(here, side, only, likely);
        if (!count && only == THREATS)
            return best;
        if (!count && only && ply)
            return ply + 4 - MATE;
        if (!count) {
            only = ALL;
            count = list_all(here, side, only, likely);
        }
        if (!count)
            return ply + 1 - MATE;
    }

    int choice = -1, tried = only || !ply ? count : min(count, tried_at(depth));
    for (int i = 0; i < tried; i++) {
        int cell = next_move(here->moves, i, count);
        bool quiet = forced < 0 && !count_of(board[cell].counts[side], 2);
        int left = forced >= 0 ? depth : depth - 1;
        int less = quiet && !only && depth < empty ? reduced(i, depth) : 0;
        __builtin_prefetch(bucket_of(key ^ zobrist[cell][side] ^ other));
        for (int word = 0; word < words; word++)
            here[1].near[word] = here->near[word] | near[cell][word];
        place(cell, side);
        value = floor + 1;
        if (choice >= 0)
            value = -search(other, cell, -floor - 1, -floor, left - less, ply + 1);
        if (choice < 0 || (value > floor && (less || value < beta)))
            value = -search(other, cell, -beta, -floor, left, ply + 1);
        take_back(cell, side);
        if (stopped)
            return 0;
        if (value <= best)
            continue;
        best = value;
        if (value > floor || choice < 0) {
            choice = cell;
            if (!ply)
                root_best = cell;
        }
        floor = max(floor, value);
        if (floor >= beta) {
            if (quiet && depth > 0)
                learn(here, cell, side, depth);
            break;
        }
    }
    remember(position, from_here(best, ply), best >= beta ? AT_LEAST : best <= alpha ? AT_MOST : EXACT, depth, choice);
    return best;
}

/* The value so many plies ahead, which is looked for near the one expected at first. */
static int look(int side, int ahead, int expected)
{
    root_best = -1;
    for (int low = WINDOW, high = WINDOW;;) {
        bool near_it = abs(expected) < WON;
        int alpha = low <= 8 * WINDOW && near_it ? expected - low : -MATE;
        int beta = high <= 8 * WINDOW && near_it ? expected + high : MATE;
        int value = search(side, -1, alpha, beta, ahead, 0);
        if (stopped || (alpha < value && value < beta))
            return value;
        if (value <= alpha) {
            if (alpha == -MATE)
                return value;
            low *= 4;
        } else {
            if (beta == MATE)
                return value;
            high *= 4;
        }
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void set_up(int count[2], int stones[2][MAX_CELLS], int side)
{
    memset(board, 0, sizeof board);
    memset(open, 0, sizeof open);
    memset(taken, 0, sizeof taken);
    memset(plies, 0, sizeof plies);
    for (Ply *ply = plies; ply < plies + sizeof plies / sizeof *plies; ply++)
        ply->killer[0] = ply->killer[1] = -1;
    key = 0;
    empty = cells;
    nodes = 0;
    stopped = false;
    for (Line *line = lines; line < lines + line_count; line++) {
        line->stones[0] = line->stones[1] = line->gap = 0;
        for (int i = 0; i < line->length; i++)
            line->gap ^= line->cells[i];
        count_line(line, 0, line->length, 1);
        count_line(line, 1, line->length, 1);
    }
    for (int who = 0; who < 2; who++)
        for (int i = 0; i < count[who]; i++) {
            place(stones[who][i], who ? 1 - side : side);
            for (int word = 0; word < words; word++)
                plies[0].near[word] |= near[stones[who][i]][word];
        }
    for (int cell = 0; misere && cell < cells; cell++)
        add(plies[0].near, cell);
}

static void think(int count[2], int stones[2][MAX_CELLS], int deepest)
{
    memset(table, 0, entries * sizeof *table);
    int side = (count[0] + count[1]) % 2, value = 0;
    double start = now();
    set_up(count, stones, side);
    deepest = min(deepest, min(empty, MAX_PLIES));
    for (int ahead = 1; ahead <= deepest && !stopped; ahead++) {
        value = look(side, ahead, value);
        printf("%d %d %d %lld %.9f\n", ahead, value, root_best, (long long)nodes, now() - start);
        if (abs(value) > WON)
            break;
    }
    printf("\n");
    fflush(stdout);
}

static int64_t number(void)
{
    long long read;
    if (scanf("%lld", &read) != 1) {
        fprintf(stderr, "engine: the game or a position is incomplete\n");
        exit(2);
    }
    return read;
}

static void read_game(void)
{
    cells = number();
    misere = number();
    width = number();
    words = (cells + 63) / 64;
    for (int side = 0; side < 2; side++)
        for (int missing = 0; missing <= KINDS; missing++)
            weight[side][missing] = number();
    for (int missing = 0; missing <= KINDS; missing++)
        worth[missing] = number();
    line_count = number();
    lines = calloc(line_count, sizeof *lines);
    for (Line *line = lines; line < lines + line_count; line++) {
        line->length = number();
        int16_t *members = malloc(line->length * sizeof *members);
        for (int i = 0; i < line->length; i++) {
            int cell = members[i] = number();
            through[cell] = realloc(through[cell], (through_count[cell] + 1) * sizeof **through);
            through[cell][through_count[cell]++] = line;
        }
        line->cells = members;
    }
    for (int cell = 0; cell < cells; cell++)
        for (int left = number(); left > 0; left--)
            add(near[cell], number());
    for (int cell = 0; cell < cells; cell++)
        for (int side = 0; side < 2; side++)
            zobrist[cell][side] = number();
}

int main(int argc, char **argv)
{
    static int stones[2][MAX_CELLS];
    long long asked;
    if (argc != 2) {
        fprintf(stderr, "usage: engine TABLE_BITS < game and positions\n");
        return 2;
    }
    entries = (size_t)1 << atoi(argv[1]);
    table = aligned_alloc(1 << 21, entries * sizeof *table);
    madvise(table, entries * sizeof *table, MADV_HUGEPAGE); /* as numpy does for large arrays */
    read_game();
    while (scanf("%lld", &asked) == 1) {
        int deepest, count[2];
        limit = asked;
        deepest = number();
        for (int who = 0; who < 2; who++) {
            count[who] = number();
            for (int i = 0; i < count[who]; i++)
                stones[who][i] = number();
        }
        think(count, stones, deepest);
    }
    return 0;
}
