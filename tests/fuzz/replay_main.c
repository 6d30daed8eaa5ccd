/* Runs a fuzz target over the files of folders, so that every build replays the corpus without
 * libFuzzer. A folder that is missing holds nothing, and folders within are left out; a crash is the failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    if (S_ISDIR(st.st_mode)) {
        fclose(f);
        return 0;
    }
    size_t size = (size_t)st.st_size;
    /* Exactly as large as the input, so that a sanitizer sees a read one byte past it. */
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, f) != size)
        exit(1);
    fclose(f);
    /* Unbuffered: the last name said is the one that crashed. */
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        n += replay_file(path);
    }
    closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISREG(st.st_mode))
            n += replay_file(argv[i]);
        else
            n += replay_folder(argv[i]);
    }
    printf("replayed %d inputs\n", n);
    return 0;
}
