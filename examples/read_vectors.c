/* Prints the id of one vector and its first expected value; see docs/format.md.
 *
 *     cc read_vectors.c $(pkg-config --cflags --libs hdf5) -o read_vectors     (or: h5cc)
 *     ./read_vectors AvgPool-1.h5 0
 */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *element_types[] = {"float16", "bfloat16", "float32",       "float64",
                                      "int8",    "uint8",    "int16",         "uint16",
                                      "int32",   "uint32",   "int64",         "uint64",
                                      "float8_e4m3fn",       "float8_e5m2"};

/* Reads a whole column, converted to `type`: int64_t, double or char. The caller frees it. */
static void *column(hid_t file, const char *path, hid_t type) {
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    hssize_t length = dataset < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    void *values = length < 0 ? NULL : malloc((size_t)length * H5Tget_size(type) + 1);
    if (!values || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) exit(3);
    H5Sclose(space);
    H5Dclose(dataset);
    return values;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s FILE NUMBER\n", argv[0]), 2;
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0 || H5Aexists(file, "complete") <= 0) return 3;
    int64_t vector = atoll(argv[2]), count = 0;
    H5Aread(H5Aopen(file, "vectors", H5P_DEFAULT), H5T_NATIVE_INT64, &count);
    if (vector < 0 || vector >= count) return fprintf(stderr, "there is no such vector\n"), 3;
    char *text = column(file, "text/bytes", H5T_NATIVE_CHAR), path[64];
    int64_t *offset = column(file, "text/offset", H5T_NATIVE_INT64);
    int64_t *id = column(file, "vectors/id", H5T_NATIVE_INT64);
    int64_t *first = column(file, "vectors/first_expected", H5T_NATIVE_INT64);
    int64_t *type = column(file, "expected_arrays/dtype", H5T_NATIVE_INT64);
    int64_t *start = column(file, "expected_arrays/start", H5T_NATIVE_INT64);
    printf("%.*s", (int)(offset[id[vector] + 1] - offset[id[vector]]), text + offset[id[vector]]);
    int64_t row = first[vector];
    if (row == first[vector + 1]) return puts(" expects no values"), 0;
    snprintf(path, sizeof path, "expected/%s/values", element_types[type[row]]);
    double *values = column(file, path, H5T_NATIVE_DOUBLE); /* bfloat16, float8: its bits */
    printf(" expects %.9g first\n", values[start[row]]);
    return 0;
}
