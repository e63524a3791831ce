/* Reads exported vectors, compares answers and writes results, for a kernel in C.
 *
 * C99 with cJSON (Debian: libcjson-dev), for a machine that is little-endian. README.md, beside
 * this, has an example. A file that is no export ends the program, with one line and status 2.
 */
#ifndef POOLING_CONFORMANCE_H
#define POOLING_CONFORMANCE_H

#include <cJSON.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 8, MOST_INPUTS = 8 };

typedef struct {
    const char *dtype; /* as safetensors has it: F32, I64, BF16 */
    int rank;
    int64_t shape[MOST_AXES];
    size_t count; /* of elements */
    void *data;   /* the elements in C order */
} Tensor;

typedef struct {
    const char *id, *operator_name;
    const cJSON *attributes, *record; /* the record is all that the file says of the case */
    int count;
    Tensor inputs[MOST_INPUTS];
} Case;

/* The vectors of a file, of which `next` comes next, and what became of those before it. */
typedef struct {
    const char *data;
    size_t size, count;     /* bytes of data, and how many tensors */
    const cJSON **tensors;  /* by the number that is their name */
    const cJSON *next;
    cJSON *outputs, *about, *ids, *raised, *unsupported;
    FILE *arrays;           /* the elements of outputs, which come after the header */
    double end;
} Run;

static inline void *checked(const void *pointer, const char *what) {
    if (!pointer) fprintf(stderr, "pooling_conformance.h: %s\n", what), exit(2);
    return (void *)pointer;
}

static inline const cJSON *member(const cJSON *object, const char *name) {
    return checked(cJSON_GetObjectItemCaseSensitive(object, name), name);
}

static inline const char *text(const cJSON *object, const char *name) {
    return checked(cJSON_GetStringValue(member(object, name)), name);
}

/* Opens a file that `conformance export safetensors` wrote. */
static inline Run open_export(const char *path) {
    FILE *file = checked(fopen(path, "rb"), path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *content = checked(malloc(size + 1), "no memory");
    if (fread(content, 1, size, file) != size) checked(NULL, path);
    fclose(file);
    uint64_t length = 0;
    if (size >= 8) memcpy(&length, content, 8);
    if (size < 8 || length > size - 8) checked(NULL, "the header is cut off");
    Run run = {.data = content + 8 + length, .size = size - 8 - length};
    cJSON *header = checked(cJSON_ParseWithLength(content + 8, length), "the header is no JSON");
    const char *vectors = text(member(header, "__metadata__"), "pooling-conformance vectors");
    run.next = member(checked(cJSON_Parse(vectors), "no JSON of vectors"), "cases")->child;
    run.count = (size_t)cJSON_GetArraySize(header);
    run.tensors = checked(calloc(run.count + 1, sizeof *run.tensors), "no memory");
    const cJSON *entry;
    cJSON_ArrayForEach(entry, header) {
        size_t number = strtoul(entry->string, NULL, 10);
        if (strcmp(entry->string, "__metadata__") && number < run.count)
            run.tensors[number] = entry;
    }
    run.outputs = cJSON_CreateObject();
    run.about = cJSON_CreateObject();
    cJSON_AddNumberToObject(run.about, "version", 1);
    run.ids = cJSON_AddArrayToObject(run.about, "ids");
    run.raised = cJSON_AddObjectToObject(run.about, "raised");
    run.unsupported = cJSON_AddObjectToObject(run.about, "unsupported");
    run.arrays = checked(tmpfile(), "no temporary file");
    return run;
}

/* Returns a tensor by its name, with a copy of its elements. */
static inline Tensor tensor(const Run *run, const cJSON *name) {
    size_t number = strtoul(checked(cJSON_GetStringValue(name), "a name"), NULL, 10);
    const cJSON *entry = checked(number < run->count ? run->tensors[number] : NULL, "a tensor");
    const cJSON *offsets = member(entry, "data_offsets"), *extent;
    double begin = cJSON_GetNumberValue(cJSON_GetArrayItem(offsets, 0));
    double end = cJSON_GetNumberValue(cJSON_GetArrayItem(offsets, 1));
    if (!(0 <= begin && begin <= end && end <= (double)run->size)) checked(NULL, "an offset");
    Tensor found = {.dtype = text(entry, "dtype")};
    /* The number at the end of a name is the element's bits. */
    double count = 1, bits = atoi(found.dtype + strcspn(found.dtype, "0123456789"));
    cJSON_ArrayForEach(extent, member(entry, "shape")) {
        if (found.rank == MOST_AXES) checked(NULL, "more than 8 axes");
        if (!(extent->valuedouble >= 0 && extent->valuedouble < 1e9)) checked(NULL, "an extent");
        count *= extent->valuedouble;
        found.shape[found.rank++] = (int64_t)extent->valuedouble;
    }
    if (bits < 8 || count * bits / 8 != end - begin) checked(NULL, "a shape");
    found.count = (size_t)count;
    found.data = checked(malloc((size_t)(end - begin) + 1), "no memory");
    memcpy(found.data, run->data + (size_t)begin, (size_t)(end - begin));
    return found;
}

/* Takes the next vector into a case, which is {0} before the first; returns 0 after the last. */
static inline int next_case(Run *run, Case *taken) {
    while (taken->count) free(taken->inputs[--taken->count].data);
    const cJSON *each = run->next, *name;
    if (!each) return 0;
    run->next = each->next;
    *taken = (Case){.id = text(each, "id"),
                    .operator_name = text(each, "operator"),
                    .attributes = member(each, "attributes"),
                    .record = each};
    cJSON_ArrayForEach(name, member(each, "inputs")) {
        if (taken->count == MOST_INPUTS) checked(NULL, "more than 8 inputs");
        taken->inputs[taken->count++] = tensor(run, name);
    }
    cJSON_AddItemToArray(run->ids, cJSON_CreateString(taken->id));
    return 1;
}

/* Attributes ------------------------------------------------------------------------------- */

static inline const cJSON *attribute(const Case *of, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(of->attributes, name);
}

/* Returns a number, 1 for true and 0 for false; `absent` where the attribute is not there. */
static inline double number_attribute(const Case *of, const char *name, double absent) {
    const cJSON *found = attribute(of, name);
    if (cJSON_IsBool(found)) return cJSON_IsTrue(found);
    return cJSON_IsNumber(found) ? found->valuedouble : absent;
}

/* Returns a word; `absent` where the attribute is not there. */
static inline const char *word_attribute(const Case *of, const char *name, const char *absent) {
    const char *found = cJSON_GetStringValue(attribute(of, name));
    return found ? found : absent;
}

/* Takes a list, at most `most` integers of it; returns how many it has, -1 if it is not there. */
static inline int list_attribute(const Case *of, const char *name, int64_t *numbers, int most) {
    const cJSON *found = attribute(of, name), *each;
    int count = 0;
    if (!cJSON_IsArray(found)) return -1;
    cJSON_ArrayForEach(each, found) {
        if (count < most) numbers[count] = (int64_t)each->valuedouble;
        count++;
    }
    return count;
}

/* The comparison, as docs/results.md has it --------------------------------------------------- */

/* An element: a real number, or a whole one, whose order is that of `whole`. */
typedef struct {
    int is_real;
    double real;
    int64_t whole;
} Number;

/* Returns the number of a float of so many bits of exponent and significand. */
static inline Number small_float(unsigned bits, int exponent_bits, int fraction_bits) {
    int sign = (int)(bits >> (exponent_bits + fraction_bits)) & 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    int fraction = (int)bits & ((1 << fraction_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1, last = (1 << exponent_bits) - 1;
    int of_e4m3 = exponent_bits == 4 && fraction_bits == 3; /* which has no infinity, and one NaN */
    double real = exponent ? ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits)
                           : ldexp(fraction, 1 - bias - fraction_bits);
    if (of_e4m3 && exponent == last && fraction == 7) real = NAN;
    if (!of_e4m3 && exponent == last) real = fraction ? NAN : INFINITY;
    return (Number){1, sign ? -real : real, 0};
}

#define AS(type) (((const type *)of->data)[place])

static inline Number number_at(const Tensor *of, size_t place) {
    const char *dtype = of->dtype;
    if (!strcmp(dtype, "F64")) return (Number){1, AS(double), 0};
    if (!strcmp(dtype, "F32")) return (Number){1, AS(float), 0};
    if (!strcmp(dtype, "F16")) return small_float(AS(uint16_t), 5, 10);
    if (!strcmp(dtype, "BF16")) return small_float(AS(uint16_t), 8, 7);
    if (!strcmp(dtype, "F8_E4M3")) return small_float(AS(uint8_t), 4, 3);
    if (!strcmp(dtype, "F8_E5M2")) return small_float(AS(uint8_t), 5, 2);
    if (!strcmp(dtype, "I8")) return (Number){0, 0, AS(int8_t)};
    if (!strcmp(dtype, "I16")) return (Number){0, 0, AS(int16_t)};
    if (!strcmp(dtype, "I32")) return (Number){0, 0, AS(int32_t)};
    if (!strcmp(dtype, "I64")) return (Number){0, 0, AS(int64_t)};
    if (!strcmp(dtype, "U8")) return (Number){0, 0, AS(uint8_t)};
    if (!strcmp(dtype, "U16")) return (Number){0, 0, AS(uint16_t)};
    if (!strcmp(dtype, "U32")) return (Number){0, 0, AS(uint32_t)};
    if (!strcmp(dtype, "U64")) return (Number){0, 0, (int64_t)(AS(uint64_t) ^ (1ULL << 63))};
    checked(NULL, "an element type");
    return (Number){0};
}

static inline int is_at_most(Number one, Number other) {
    return one.is_real ? one.real <= other.real : one.whole <= other.whole;
}

enum { RIGHT_NOT_FINITE = 1, RIGHT_ANYTHING = 2, RIGHT_NAN = 3 };

/* Returns the tensor of an output by what it says; one without elements where it is absent. */
static inline Tensor part(const Run *run, const cJSON *output, const char *name) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(output, name);
    return found ? tensor(run, found) : (Tensor){.dtype = ""};
}

/* Says whether one output is right. */
static inline int fits(const Run *run, const cJSON *output, const Tensor *given) {
    Tensor expected = part(run, output, "expected"), lower = part(run, output, "lower");
    Tensor upper = part(run, output, "upper"), mask = part(run, output, "mask");
    Tensor ties = part(run, output, "ties");
    int right = !strcmp(given->dtype, expected.dtype) && given->rank == expected.rank &&
                !memcmp(given->shape, expected.shape, (size_t)given->rank * sizeof *given->shape);
    for (size_t place = 0; right && place < expected.count; place++) {
        Number value = number_at(given, place);
        Number low = number_at(lower.data ? &lower : &expected, place);
        Number high = number_at(upper.data ? &upper : &expected, place);
        int code = mask.data ? ((const uint8_t *)mask.data)[place] : 0;
        int is_nan = value.is_real && isnan(value.real);
        right = (is_at_most(low, value) && is_at_most(value, high)) ||
                (is_nan && isnan(low.real)) || code == RIGHT_ANYTHING ||
                (code == RIGHT_NOT_FINITE && value.is_real && !isfinite(value.real)) ||
                (code == RIGHT_NAN && is_nan);
        for (size_t tie = 0; !right && tie + 1 < ties.count; tie += 2) {
            const int64_t *of = (const int64_t *)ties.data + tie;
            right = of[0] == (int64_t)place && !value.is_real && value.whole == of[1];
        }
    }
    Tensor *all[] = {&expected, &lower, &upper, &mask, &ties};
    for (int each = 0; each < 5; each++) free(all[each]->data);
    return right;
}

/* Says whether an answer to a case is right: `count` outputs, of which those after the first may be
 * left out, or 0 for an error. */
static inline int conforms(const Run *run, const Case *of, const Tensor *outputs, int count) {
    const cJSON *accepted, *output;
    cJSON_ArrayForEach(accepted, member(of->record, "accepted")) {
        const char *kind = text(accepted, "kind");
        const cJSON *expected = cJSON_GetObjectItemCaseSensitive(accepted, "outputs");
        if (!strcmp(kind, "anything") || (!strcmp(kind, "raises") && !count)) return 1;
        if (strcmp(kind, "values")) continue;
        int place = 0, right = count > 0 && count <= cJSON_GetArraySize(expected);
        cJSON_ArrayForEach(output, expected) {
            if (!count) {
                Tensor mask = part(run, output, "mask");
                right |= mask.data && memchr(mask.data, RIGHT_ANYTHING, mask.count);
                free(mask.data);
            } else if (right && place < count) {
                right = fits(run, output, &outputs[place++]);
            }
        }
        if (right) return 1;
    }
    return 0;
}

/* Results ------------------------------------------------------------------------------------- */

/* Stores the output of a case, of `size` bytes an element. */
static inline void add_output(Run *run, const Case *of, const Tensor *output, size_t size) {
    cJSON *entry = cJSON_AddObjectToObject(run->outputs, of->id);
    cJSON_AddStringToObject(entry, "dtype", output->dtype);
    cJSON *shape = cJSON_AddArrayToObject(entry, "shape");
    for (int axis = 0; axis < output->rank; axis++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)output->shape[axis]));
    double offsets[2] = {run->end, run->end + (double)(output->count * size)};
    cJSON_AddItemToObject(entry, "data_offsets", cJSON_CreateDoubleArray(offsets, 2));
    run->end = offsets[1];
    fwrite(output->data, size, output->count, run->arrays);
}

/* Writes the results, and says how many there are of each kind. */
static inline void write_results(Run *run, const char *path) {
    int count = cJSON_GetArraySize(run->outputs);
    cJSON *metadata = cJSON_AddObjectToObject(run->outputs, "__metadata__");
    char *about = checked(cJSON_PrintUnformatted(run->about), "no memory"), block[4096];
    cJSON_AddStringToObject(metadata, "pooling-conformance results", about);
    char *header = checked(cJSON_PrintUnformatted(run->outputs), "no memory");
    uint64_t length = strlen(header);
    FILE *file = checked(fopen(path, "wb"), path);
    fwrite(&length, 8, 1, file), fwrite(header, 1, length, file);
    rewind(run->arrays);
    for (size_t some; (some = fread(block, 1, sizeof block, run->arrays)) > 0;)
        fwrite(block, 1, some, file);
    if (ferror(file) || fclose(file)) checked(NULL, path);
    printf("%d outputs, %d raised, %d unsupported\n", count, cJSON_GetArraySize(run->raised),
           cJSON_GetArraySize(run->unsupported));
}

#endif
