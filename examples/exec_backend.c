/* AvgPool-1 and MaxPool-1 of float32 for `exec:`: see docs/protocol.md. C99, no library but -lm.
 *
 *     cc -std=c99 -O2 -Wall -Wextra -Wpedantic examples/exec_backend.c -o exec_backend -lm
 *     conformance check exec:./exec_backend
 *
 * For a machine with little-endian IEEE floats. Replace `pool` by a call of your own kernel.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE (1 << 20)  /* bytes of a line, its end included */
#define MAX_NUMBER (1 << 30) /* of an attribute: sums and products of three fit an int64_t */
#define MAX_BYTES (1 << 30) /* of a tensor */
#define MAX_DEPTH 16        /* of nested JSON */
#define MAX_RANK 8

/* What the harness sent breaks the protocol: nothing sensible can be answered. */
static void give_up(const char *why) {
    fprintf(stderr, "exec_backend: %s\n", why);
    exit(2);
}

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes + 1); /* malloc(0) may be NULL */
    if (!memory) give_up("out of memory");
    return memory;
}

/* JSON -----------------------------------------------------------------------------------------
 * A line is looked through once by `skip`; the functions after it may then rely on its form and
 * return pointers into it. The harness writes every name of the protocol without escapes. */

static const char *blank(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') p++;
    return p;
}

static const char *skip_string(const char *p) {
    for (p++; *p != '"'; p++) {
        if (*p == '\\') p++;
        if ((unsigned char)*p < ' ') give_up("a JSON string has no end");
    }
    return p + 1;
}

/* Returns what follows the value at p, and blanks. */
static const char *skip(const char *p, int depth) {
    p = blank(p);
    if (depth > MAX_DEPTH) give_up("JSON is nested too deeply");
    if (*p == '"') return blank(skip_string(p));
    if (*p == '{' || *p == '[') {
        char close = *p == '{' ? '}' : ']';
        p = blank(p + 1);
        if (*p == close) return blank(p + 1);
        for (;; p++) {
            p = blank(p);
            if (close == '}') {
                if (*p != '"' || *(p = blank(skip_string(p))) != ':') give_up("JSON needs a key");
                p++;
            }
            p = skip(p, depth + 1);
            if (*p == close) return blank(p + 1);
            if (*p != ',') give_up("JSON needs a comma");
        }
    }
    size_t length = strcspn(p, ",:]}\" \t\r\n"); /* a number, true, false, null */
    if (!length) give_up("JSON lacks a value");
    return blank(p + length);
}

/* Steps through the values of a list or the keys of an object: first(), then next() until NULL. */
static const char *first(const char *container) {
    const char *p = blank(container + 1);
    return *p == ']' || *p == '}' ? NULL : p;
}

static const char *value_of(const char *key) { return blank(blank(skip_string(key)) + 1); }

static const char *next(const char *value) {
    const char *p = skip(value, 0);
    return *p == ',' ? blank(p + 1) : NULL;
}

static int is(const char *value, const char *text) {
    size_t length = strlen(text);
    return *value == '"' && !strncmp(value + 1, text, length) && value[length + 1] == '"';
}

/* Returns the value of a key of an object, or NULL. */
static const char *member(const char *object, const char *name) {
    if (!object || *object != '{') return NULL;
    for (const char *key = first(object); key; key = next(value_of(key)))
        if (is(key, name)) return value_of(key);
    return NULL;
}

/* Reads a whole number; returns 0 if it is none or is out of low..high. */
static int integer(const char *value, int64_t low, int64_t high, int64_t *result) {
    char *end;
    if (!value || !(*value == '-' || (*value >= '0' && *value <= '9'))) return 0;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno || !*end || !strchr(",]} \n", *end) || number < low || number > high) return 0;
    *result = number;
    return 1;
}

/* Reads a list of at most `room` whole numbers; returns how many, -1 if it is no such list. */
static int integers(const char *list, int64_t low, int64_t high, int64_t *result, int room) {
    int count = 0;
    if (!list || *list != '[') return -1;
    for (const char *item = first(list); item; item = next(item), count++)
        if (count == room || !integer(item, low, high, result + count)) return -1;
    return count;
}

/* One spatial axis of a case: d cells, `out` windows of k cells every s, the first at -begin. */
typedef struct {
    int64_t d, k, s, begin, end, out;
} Axis;

typedef struct {
    int average, count_pads;
    int64_t planes; /* N times C */
    Axis axis[3];   /* with fewer spatial axes, the first ones have one cell */
} Case;

/* Reads which of `words` an attribute holds, the first if it is absent; -1 if none. */
static int word(const char *value, const char *const *words) {
    if (!value) return 0;
    for (int i = 0; words[i]; i++)
        if (is(value, words[i])) return i;
    return -1;
}

static const char *set_axis(Axis *axis, int mode, int ceil) {
    int64_t d = axis->d, k = axis->k, s = axis->s;
    if (mode != 0) axis->begin = axis->end = 0;
    if (mode == 1 || mode == 2) { /* same_upper, same_lower: ceil(d / s) windows */
        axis->out = (d + s - 1) / s;
        int64_t total = d ? (axis->out - 1) * s + k - d : 0;
        if (total < 0) total = 0;
        axis->begin = mode == 1 ? total / 2 : total - total / 2;
        axis->end = total - axis->begin;
        return NULL;
    }
    int64_t room = d + axis->begin + axis->end - k;
    if (room < 0) return "the kernel is longer than the padded axis";
    axis->out = (ceil ? room + s - 1 : room) / s + 1;
    return NULL;
}

/* Reads attributes into a case whose `average` is set; returns NULL, or why they are invalid. */
static const char *read_case(const char *attributes, const int64_t *shape, int rank, Case *c) {
    static const char *const lists[] = {"kernel", "strides", "pads_begin", "pads_end"};
    static const char *const modes[] = {"explicit", "same_upper", "same_lower", "valid", NULL};
    static const char *const roundings[] = {"floor", "ceil", NULL};
    int64_t numbers[4][3];
    int axes = rank - 2, known = 0;
    if (axes < 1 || axes > 3) return "the input must have 3 to 5 dimensions";
    if (!attributes || *attributes != '{') return "attributes must be an object";
    for (int i = 0; i < 4; i++) {
        const char *list = member(attributes, lists[i]);
        if (integers(list, i < 2, MAX_NUMBER, numbers[i], 3) != axes)
            return i < 2 ? "kernel and strides: one number above 0 per axis"
                         : "pads_begin and pads_end: one number of 0 or more per axis";
        known++;
    }
    const char *exclude = member(attributes, "exclude_pad");
    if (c->average) {
        if (!exclude || (*exclude != 't' && *exclude != 'f')) return "exclude_pad: true or false";
        c->count_pads = *exclude == 'f';
        known++;
    }
    const char *mode_given = member(attributes, "auto_pad");
    const char *rounding_given = member(attributes, "rounding_type");
    int mode = word(mode_given, modes), rounding = word(rounding_given, roundings);
    if (mode < 0) return "auto_pad: explicit, same_upper, same_lower or valid";
    if (rounding < 0) return "rounding_type: floor or ceil";
    known += (mode_given != NULL) + (rounding_given != NULL);
    for (const char *key = first(attributes); key; key = next(value_of(key))) known--;
    if (known != 0) return "there is an attribute that the operator does not have";
    c->planes = shape[0] * shape[1];
    for (int i = 0; i < 3; i++) {
        int j = i - (3 - axes);
        c->axis[i] = (Axis){1, 1, 1, 0, 0, 1};
        if (j < 0) continue;
        c->axis[i] = (Axis){.d = shape[2 + j],
                            .k = numbers[0][j],
                            .s = numbers[1][j],
                            .begin = numbers[2][j],
                            .end = numbers[3][j]};
        const char *why = set_axis(&c->axis[i], mode, rounding);
        if (why) return why;
    }
    return NULL;
}

/* The kernel -----------------------------------------------------------------------------------*/

/* The input cells lo:hi of window i, and how many cells it has inside input and padding. */
typedef struct {
    int64_t lo, hi, padded;
} Window;

static Window window(const Axis *axis, int64_t i) {
    int64_t start = i * axis->s - axis->begin, stop = start + axis->k;
    int64_t limit = axis->d + axis->end; /* cells beyond, which only ceil makes, do not exist */
    Window w = {start > 0 ? start : 0, stop < axis->d ? stop : axis->d,
                (stop < limit ? stop : limit) - start};
    if (w.hi < w.lo) w.hi = w.lo;
    if (w.padded < 0) w.padded = 0;
    return w;
}

static double product(int64_t z, int64_t y, int64_t x) { return (double)z * (double)y * (double)x; }

/* Computes every output in C order; a window without a cell gives NaN or -infinity. */
static void pool(const Case *c, const float *in, float *out) {
    const Axis *az = c->axis, *ay = az + 1, *ax = az + 2;
    for (int64_t plane = 0; plane < c->planes; plane++, in += az->d * ay->d * ax->d)
        for (int64_t i = 0; i < az->out; i++)
            for (int64_t j = 0; j < ay->out; j++)
                for (int64_t k = 0; k < ax->out; k++) {
                    Window wz = window(az, i), wy = window(ay, j), wx = window(ax, k);
                    double sum = 0.0;
                    float most = -INFINITY;
                    for (int64_t z = wz.lo; z < wz.hi; z++)
                        for (int64_t y = wy.lo; y < wy.hi; y++)
                            for (int64_t x = wx.lo; x < wx.hi; x++) {
                                float cell = in[(z * ay->d + y) * ax->d + x];
                                sum += cell;
                                if (cell > most || cell != cell) most = cell; /* NaN stays */
                            }
                    double divisor =
                        c->count_pads ? product(wz.padded, wy.padded, wx.padded)
                                      : product(wz.hi - wz.lo, wy.hi - wy.lo, wx.hi - wx.lo);
                    *out++ = c->average ? (float)(sum / divisor) : most;
                }
}

/* Messages -------------------------------------------------------------------------------------*/

/* Reads one line of JSON into `line`; NULL at the end of the input. */
static const char *read_line(char *line) {
    if (!fgets(line, MAX_LINE + 1, stdin)) return NULL;
    if (!strchr(line, '\n')) give_up("a line is cut off or too long");
    const char *start = blank(line);
    if (*start != '{' || *skip(start, 0)) give_up("a line is no JSON object");
    return start;
}

/* Reads the bytes that `inputs` announces, keeping those of the first; returns their number. */
static int read_inputs(const char *inputs, char **data, int64_t *shape, int *rank) {
    int count = 0;
    *data = NULL;
    if (!inputs || *inputs != '[') give_up("the call has no list of inputs");
    for (const char *input = first(inputs); input; input = next(input), count++) {
        int64_t sizes[MAX_RANK], bytes;
        const char *dtype = member(input, "dtype");
        int axes = integers(member(input, "shape"), 0, MAX_BYTES, sizes, MAX_RANK);
        if (!dtype || *dtype != '"' || axes < 0) give_up("an input has no dtype or no shape");
        /* The first number in a name is the element's bits: float32, bfloat16, float8_e5m2. */
        bytes = atoll(dtype + 1 + strcspn(dtype + 1, "0123456789\"")) / 8;
        if (bytes < 1 || bytes > 8) give_up("an input has an unknown dtype");
        for (int i = 0; i < axes; i++)
            if ((bytes *= sizes[i]) > MAX_BYTES) give_up("an input is too large");
        char *read = allocate((size_t)bytes);
        if (fread(read, 1, (size_t)bytes, stdin) != (size_t)bytes) give_up("an input is cut off");
        if (count) {
            free(read);
            continue;
        }
        *data = read;
        *rank = axes;
        memcpy(shape, sizes, sizeof sizes);
    }
    return count;
}

/* Answers with an output, computed from the data; returns NULL, or why it cannot. */
static const char *answer(int64_t call, const Case *c, const char *data, const int64_t *shape,
                          int rank) {
    int64_t extents[5] = {shape[0], shape[1], c->axis[0].out, c->axis[1].out, c->axis[2].out};
    int64_t bytes = sizeof(float);
    for (int i = 0; i < 5; i++)
        if ((bytes *= extents[i]) > MAX_BYTES) return "the output is too large";
    float *output = allocate((size_t)bytes);
    if (bytes) pool(c, (const float *)(const void *)data, output);
    printf("{\"call\": %lld, \"output\": {\"dtype\": \"float32\", \"shape\": [%lld, %lld",
           (long long)call, (long long)extents[0], (long long)extents[1]);
    for (int i = 7 - rank; i < 5; i++) printf(", %lld", (long long)extents[i]);
    fputs("]}}\n", stdout);
    fwrite(output, 1, (size_t)bytes, stdout);
    free(output);
    return NULL;
}

/* Answers one call: reads its bytes first, whatever the answer will be. */
static void serve(const char *request) {
    int64_t call, shape[MAX_RANK];
    int rank = 0;
    char *data;
    if (!integer(member(request, "call"), 0, INT64_MAX, &call)) give_up("a call has no number");
    const char *name = member(request, "operator"), *inputs = member(request, "inputs");
    if (!name) give_up("a call has no operator");
    int count = read_inputs(inputs, &data, shape, &rank);
    const char *kind = "unsupported", *why = NULL;
    Case c = {.average = is(name, "AvgPool-1")};
    if (!c.average && !is(name, "MaxPool-1")) {
        why = "AvgPool-1 and MaxPool-1 only";
    } else if (count && !is(member(first(inputs), "dtype"), "float32")) {
        why = "float32 only";
    } else {
        kind = "error";
        why = count == 1 ? read_case(member(request, "attributes"), shape, rank, &c)
                         : "the operator takes one input";
        if (!why) why = answer(call, &c, data, shape, rank);
    }
    if (why) printf("{\"call\": %lld, \"%s\": \"%s\"}\n", (long long)call, kind, why);
    fflush(stdout);
    free(data);
}

int main(void) {
    static char line[MAX_LINE + 1];
    const char *request = read_line(line);
    const char *protocol = request ? member(request, "protocol") : NULL;
    if (!protocol || !is(protocol, "pooling-conformance")) give_up("conformance runs this program");
    /* Whatever version was offered, this is the one spoken here. */
    puts("{\"version\": 1, \"name\": \"exec_backend.c\","
         " \"supports\": {\"AvgPool-1\": [\"float32\"], \"MaxPool-1\": [\"float32\"]}}");
    fflush(stdout);
    while ((request = read_line(line))) serve(request);
    return 0;
}
