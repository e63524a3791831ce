/* Reads exported vectors and writes results, for a kernel in C: see docs/results.md.
 *
 * C99 with cJSON (Debian: libcjson-dev), for a machine that is little-endian. run_exported.c is an
 * example. A file that is no export ends the program, with one line and status 2.
 */
#ifndef EXPORTED_H
#define EXPORTED_H

#include <cJSON.h>
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
    const cJSON *attributes;
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
    if (!pointer) fprintf(stderr, "exported.h: %s\n", what), exit(2);
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
                    .attributes = member(each, "attributes")};
    cJSON_ArrayForEach(name, member(each, "inputs")) {
        if (taken->count == MOST_INPUTS) checked(NULL, "more than 8 inputs");
        taken->inputs[taken->count++] = tensor(run, name);
    }
    cJSON_AddItemToArray(run->ids, cJSON_CreateString(taken->id));
    return 1;
}

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
