/* Exact solver for the "Infinity Grid Duel", as an independent yardstick.
 *
 *   gcc -O3 -march=native -o duel duel.c
 *   duel R C [bits]           margin of the empty board and a first move that keeps it
 *   duel R C outcome [bits]   win, draw or loss only
 *   duel R C - [bits]         reads "own other" (decimal masks), prints the margin of each
 *
 * bits: the table has 2^bits entries of 16 bytes; 22 if not given, at least R*C - 38.
 * Less may be faster, as it fits the processor's cache: 6x6 needs no more than 20.
 *
 * The game: R x C cells, at most 62; cell r*C+c is bit r*C+c. A move places a tile on
 * an empty cell orthogonally next to an own tile, or on any empty cell if there is no
 * such cell. Enemy tiles next to the new tile change sides, without chains. The full
 * board ends the game. The margin is own tiles minus the other's at the end, for the
 * side to move; it always has the parity of R*C.
 *
 * What makes it fast:
 *  - A tile with no empty neighbour is settled: nobody can place next to it any more,
 *    so it can neither be captured nor give its owner a move. It counts, and that is all.
 *    The table therefore knows a position by its empty cells and the colours of its
 *    unsettled ("live") tiles, and stores the margin still to come from the rest.
 *  - All searches ask one question, "is the margin at least beta?"; the exact margin is
 *    found by moving beta (MTD(f)). Parity lets beta move by two.
 *  - Moves that leave the opponent, and then oneself, few moves are tried first.
 */
#define _GNU_SOURCE             /* MAP_ANONYMOUS, madvise */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t u64;

enum {
    MAXN = 62,
    TT_MIN = 7,         /* empty cells below which the table costs more than it saves */
    ETC_MIN = 9,        /* empty cells from which the children's entries are read first */
    SYM_MOVES = 8       /* moves from the empty board during which symmetry is used */
};

static int R, C, n;
static u64 FULL, NOTFIRST, NOTLAST;     /* all cells; those not in the first, last column */
static u64 CORNER, EDGE;                /* cells with 2 neighbours; with 3 (in wide boards) */
static u64 closed[MAXN];                /* a cell and its neighbours */
static int nsym, perm[8][MAXN];         /* symmetries of the board */
static u64 nodes;

#define POP __builtin_popcountll
#define CTZ __builtin_ctzll

static inline u64 beside(u64 x)         /* the cells next to some cell of x */
{
    return ((x << C) | (x >> C) | ((x & NOTLAST) << 1) | ((x & NOTFIRST) >> 1)) & FULL;
}

/* ---- the table ----
 * The key is the pair (empty, own live tiles), n bits each; with it, and the live tiles
 * being those next to an empty cell, the other side's live tiles are known too.
 * `empty` goes through a bijection on n-bit words, and the bucket number is its low
 * `ib` bits xor a hash of `live`. An entry stores `live` whole and the remaining n - ib
 * bits, from which and the bucket number `empty` follows: equal entries in a bucket are
 * equal keys, with no luck involved. It needs n - ib <= 40.
 *
 *   a: (mixed empty >> ib) << 24 | work << 18 | move << 12 | hi << 6 | lo
 *   b: live
 *
 * The margin still to come lies in -u..u, u being the number of cells not settled, and
 * has u's parity, so that lo and hi are stored as (margin + u) / 2, at most 62.
 * work is 1 + log2(nodes of the subtree): the cheapest of a bucket is overwritten.
 * It is never 0 in an entry in use. */
typedef struct { u64 a, b; } Entry;
enum { WAYS = 4 };
static Entry *table;
static int ib;

static inline u64 mix(u64 x)            /* bijective: odd factors mod 2^n, xors from above */
{
    x = (x * 0x9E3779B97F4A7C15u) & FULL;
    x ^= x >> (n / 2 + 1);
    x = (x * 0xD6E8FEB86659FD93u) & FULL;
    return x ^ (x >> (n / 2 + 1));
}

static inline Entry *bucket(u64 mixed, u64 live)
{
    u64 h = live * 0xC2B2AE3D27D4EB4Fu;
    h ^= h >> 32;
    h *= 0x9FB21C651E98DF25u;
    return table + WAYS * ((mixed ^ (h >> 24)) & ((1ull << ib) - 1));
}

static inline Entry *find(const Entry *in, u64 mixed, u64 live)
{
    for (int i = 0; i < WAYS; i++)
        if (in[i].b == live && in[i].a >> 24 == mixed >> ib && in[i].a)
            return (Entry *)in + i;
    return NULL;
}

static void store(Entry *in, u64 mixed, u64 live, int lo, int hi, int move, u64 work)
{
    Entry *e = find(in, mixed, live);
    if (!e) {
        e = in;
        for (int i = 1; i < WAYS; i++)
            if ((in[i].a >> 18 & 63) < (e->a >> 18 & 63))
                e = in + i;
    }
    u64 w = 64 - __builtin_clzll(work | 1);
    e->a = (mixed >> ib) << 24 | (w > 63 ? 63 : w) << 18 | (u64)move << 12 | hi << 6 | lo;
    e->b = live;
}

/* ---- the search ---- */

static u64 permuted(u64 x, const int *p)
{
    u64 y = 0;
    for (; x; x &= x - 1)
        y |= 1ull << p[CTZ(x)];
    return y;
}

/* Replace a position by the least of its images under the board's symmetries, which all
 * have its margin. A move in an entry is a move in that image, and stays one. */
static void canonical(u64 *own, u64 *oth)
{
    u64 a = *own, b = *oth;
    for (int s = 1; s < nsym; s++) {
        u64 x = permuted(a, perm[s]), y = permuted(b, perm[s]);
        if (x < *own || (x == *own && y < *oth))
            *own = x, *oth = y;
    }
}

static inline u64 moves(u64 own, u64 empty)
{
    u64 m = beside(own) & empty;
    return m ? m : empty;
}

/* Is the margin of the side to move >= beta? The result g answers it (g >= beta or not)
 * and is a lower bound of the margin if so, an upper bound if not. beta has n's parity. */
static int search(u64 own, u64 oth, int beta)
{
    u64 empty = FULL & ~(own | oth);
    int ne = POP(empty);
    nodes++;

    if (ne <= 2) {                      /* the last tile keeps its whole neighbourhood */
        if (ne == 0)
            return 2 * POP(own) - n;
        u64 m = moves(own, empty);
        int a = CTZ(m);
        if (ne == 1)
            return 2 * POP(own | closed[a]) - n;
        int b = CTZ(empty ^ (1ull << a));
        int g = n - 2 * POP((oth & ~closed[a]) | closed[b]);
        if (g < beta && (m & (m - 1))) {
            int g2 = n - 2 * POP((oth & ~closed[b]) | closed[a]);
            g = g2 > g ? g2 : g;
        }
        return g;
    }

    /* Bounds without search: whoever moves last keeps that tile and its neighbours, and
     * of the tile before it with its neighbours the last can take two cells at most. (If
     * the two touch: each other; if not: the neighbours they share, at most two.) */
    u64 rim = beside(empty);
    int u = POP(empty | rim);
    int base = POP(own & ~rim) - POP(oth & ~rim);
    int last = empty & CORNER ? 3 : empty & EDGE ? 4 : 5;
    int min = -u + 2 * (ne & 1 ? last : last - 2), max = u - 2 * (ne & 1 ? last - 2 : last);
    if (R < 2 || C < 2)                 /* where a cell may have one neighbour */
        min = -u, max = u;
    if (base + min >= beta) return base + min;
    if (base + max < beta) return base + max;

    if (ne >= n - SYM_MOVES)
        canonical(&own, &oth), empty = FULL & ~(own | oth), rim = beside(empty);
    u64 live = own & rim, mixed = 0, before = nodes;
    Entry *in = NULL;
    int first = -1;
    if (ne >= TT_MIN) {
        mixed = mix(empty);
        in = bucket(mixed, live);
        Entry *e = find(in, mixed, live);
        if (e) {
            min = 2 * (int)(e->a & 63) - u;
            max = 2 * (int)(e->a >> 6 & 63) - u;
            if (base + min >= beta) return base + min;
            if (base + max < beta) return base + max;
            first = e->a >> 12 & 63;
        }
    }

    struct { u64 own, oth; int cell, score; } list[MAXN], t;     /* sorted by score */
    int k = 0, best = -n - 2, bestcell = 0;
    for (u64 m = moves(own, empty); m; m &= m - 1) {
        int cell = CTZ(m);
        t.own = own | (closed[cell] & ~empty) | (m & -m);
        t.oth = oth & ~closed[cell];
        t.cell = cell;
        u64 e2 = empty ^ (m & -m);
        t.score = cell == first ? -1000 : 32 * POP(moves(t.oth, e2))
                + 8 * POP(moves(t.own, e2)) - POP(t.own);
        int i = k++;
        for (; i > 0 && list[i - 1].score > t.score; i--)
            list[i] = list[i - 1];
        list[i] = t;
        if (ne >= ETC_MIN) {            /* perhaps the table already refutes by this move */
            u64 rim2 = beside(e2), mixed2 = mix(e2);
            Entry *e = find(bucket(mixed2, t.oth & rim2), mixed2, t.oth & rim2);
            if (e) {
                int u2 = POP(e2 | rim2), base2 = POP(t.oth & ~rim2) - POP(t.own & ~rim2);
                int g = -(base2 + 2 * (int)(e->a >> 6 & 63) - u2);
                if (g >= beta) {
                    best = g, bestcell = cell;
                    goto done;
                }
            }
        }
    }
    for (int i = 0; i < k; i++) {
        int g = -search(list[i].oth, list[i].own, 2 - beta);
        if (g > best) {
            best = g, bestcell = list[i].cell;
            if (g >= beta) break;
        }
    }
done:
    if (in) {
        if (best >= beta) min = best - base > min ? best - base : min;
        else max = best - base < max ? best - base : max;
        store(in, mixed, live, (min + u) / 2, (max + u) / 2, bestcell, nodes - before);
    }
    return best;
}

/* The exact margin. *move becomes a move that keeps it, if there is a move. Moving beta
 * from answer to answer ends when the bounds meet. The moves are tried here and not in
 * search(), so that `move` is in the board's own coordinates. */
static int exact(u64 own, u64 oth, int beta, int tests, int *move)
{
    u64 empty = FULL & ~(own | oth);
    int lo = -n, hi = n;
    *move = empty ? CTZ(moves(own, empty)) : -1;
    if (!empty)
        return 2 * POP(own) - n;
    while (lo < hi && tests--) {
        int best = -n - 2;
        for (u64 m = moves(own, empty); m && best < beta; m &= m - 1) {
            u64 c = closed[CTZ(m)], bit = m & -m;
            int g = -search(oth & ~c, own | (c & oth) | bit, 2 - beta);
            if (g > best) {
                best = g;
                if (g >= beta) *move = CTZ(m);
            }
        }
        if (best >= beta) lo = best;
        else hi = best;
        beta = best >= beta ? lo + 2 : hi;
    }
    return lo;
}

static void setup(int bits)
{
    n = R * C;
    FULL = (1ull << n) - 1;
    for (int i = 0; i < n; i++) {
        if (i % C) NOTFIRST |= 1ull << i;
        if (i % C < C - 1) NOTLAST |= 1ull << i;
    }
    for (int i = 0; i < n; i++) {
        closed[i] = 1ull << i | beside(1ull << i);
        if (POP(closed[i]) <= 3) CORNER |= 1ull << i;
        if (POP(closed[i]) == 4) EDGE |= 1ull << i;
        for (int s = 0; s < 8; s++) {   /* s & 4, transposing, is for squares only */
            int r = s & 1 ? R - 1 - i / C : i / C, c = s & 2 ? C - 1 - i % C : i % C;
            perm[s][i] = s & 4 ? c * C + r : r * C + c;
        }
    }
    nsym = R == C ? 8 : 4;

    ib = (bits ? bits : 22) - 2;
    if (ib < n - 40) ib = n - 40;
    size_t size = sizeof(Entry) * WAYS << ib;
    table = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
        perror("duel: table");
        exit(1);
    }
    madvise(table, size, MADV_HUGEPAGE);        /* most reads of the table miss the TLB */
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[3] : "";
    int named = !strcmp(mode, "outcome") || !strcmp(mode, "-");
    const char *b = argc > 3 + named ? argv[3 + named] : "0";
    int bits = atoi(b);
    if (argc > 2) R = atoi(argv[1]), C = atoi(argv[2]);
    if (R < 1 || C < 1 || R > MAXN || C > MAXN || R * C > MAXN || argc > 4 + named
        || (bits && (bits < 4 || bits > 32)) || (!bits && strcmp(b, "0"))) {
        fprintf(stderr, "usage: duel R C [outcome | -] [table bits, 4..32]\n");
        return 2;
    }
    setup(bits);

    struct timespec t0, t1;
    int move, parity = n & 1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    if (!strcmp(mode, "-")) {
        unsigned long long own, oth;
        int got;
        while ((got = scanf("%llu %llu", &own, &oth)) == 2) {
            if ((own & oth) || ((own | oth) & ~FULL)) {
                fprintf(stderr, "duel: bad position %llu %llu\n", own, oth);
                return 1;
            }
            printf("%d\n", exact(own, oth, parity, -1, &move));
            fflush(stdout);
        }
        if (got != EOF) {
            fprintf(stderr, "duel: expected two masks\n");
            return 1;
        }
        return 0;
    }
    if (!strcmp(mode, "outcome")) {
        /* "at least 1 or 2?", then, if not and n is even, "at least 0?" */
        int win = exact(0, 0, 2 - parity, 1, &move) > 0;
        int draw = !win && !parity && exact(0, 0, 0, 1, &move) >= 0;
        printf("%dx%d: %s", R, C, win ? "win" : draw ? "draw" : "loss");
    } else {
        int margin = exact(0, 0, parity, -1, &move);
        printf("%dx%d: margin %+d, first move %d", R, C, margin, move);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double s = t1.tv_sec - t0.tv_sec + (t1.tv_nsec - t0.tv_nsec) * 1e-9;
    printf(", %llu nodes, %.3f s, %.2f M/s\n", (unsigned long long)nodes, s, nodes / s * 1e-6);
    return 0;
}
