/* See sweep.h: digests, and the name of the machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/sha256.h"
#include "device/host.h"
#include "jobs/sweep.h"

enum { BLOCK_BYTES = 1 << 16, SQUEUE_MS = 10000 };
#define FOLDER_BYTES ((size_t)16 << 20)

/* ---- files ---- */

static assay_status add_file(sha256 *h, const char *path, assay_error *err)
{
    uint64_t size;
    int fd;
    TRY(file_open_read(path, &fd, &size, err));
    char *block = memory_alloc(BLOCK_BYTES);
    ssize_t n = block ? 1 : 0;
    while (n > 0 || (n < 0 && errno == EINTR)) {
        n = read(fd, block, BLOCK_BYTES);
        if (n > 0)
            sha256_add(h, block, (size_t)n);
    }
    int error = errno;
    free(block);
    close(fd);
    TRY_MEMORY(block, err);
    return n < 0 ? err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot read: %s",
                                  FILE_NAME(path), strerror(error))
                 : ASSAY_OK;
}

static assay_status digest_file(const char *path, sweep_hex out, assay_error *err)
{
    sha256 h;
    sha256_begin(&h);
    TRY(add_file(&h, path, err));
    sha256_end(&h, out);
    return ASSAY_OK;
}

static assay_status add_entry(sha256 *h, const char *folder, str name, arena *a, assay_error *err)
{
    sweep_hex hex;
    const char *path = arena_printf(a, "%s/" STR_FMT, folder, STR_ARG(name));
    TRY_MEMORY(path, err);
    if (!file_stat(path).is_regular)
        return ASSAY_OK;
    TRY(digest_file(path, hex, err));
    sha256_add(h, name.p, name.n);
    sha256_add(h, "\n", 1);
    sha256_add(h, hex, 64);
    sha256_add(h, "\n", 1);
    return ASSAY_OK;
}

static assay_status digest_folder(const char *path, arena *a, sweep_hex out, assay_error *err)
{
    sha256 h;
    str *names;
    uint32_t n;
    sha256_begin(&h);
    TRY(file_list(path, a, &names, &n, err));
    for (uint32_t i = 0; i < n; i++)
        TRY(add_entry(&h, path, names[i], a, err));
    sha256_end(&h, out);
    return ASSAY_OK;
}

assay_status sweep_digest_path(const char *path, sweep_hex out, assay_error *err)
{
    if (!file_stat(path).is_dir)
        return digest_file(path, out, err);
    arena *a = arena_new(FOLDER_BYTES);
    assay_status s = a ? digest_folder(path, a, out, err) : err_no_memory(err);
    arena_free(a);
    return s;
}

/* ---- models and plans ---- */

static assay_status digest_text(sbuf *text, sweep_hex out, assay_error *err)
{
    sha256 h;
    bool failed = text->failed;
    sha256_begin(&h);
    if (!failed)
        sha256_add(&h, text->p, text->n);
    sha256_end(&h, out);
    sbuf_free(text);
    return failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status sweep_digest_model(const assay_model *m, const char *word, const profile *p,
                                sweep_hex out, assay_error *err)
{
    sbuf text = {0};
    if (!m->row || file_stat(word).exists)
        return sweep_digest_path(word, out, err);
    sbuf_printf(&text, "built-in %s parameters %llu macs %llu flops %llu operators %llu\n",
                m->row->name, (unsigned long long)p->total_parameters,
                (unsigned long long)p->total_macs, (unsigned long long)p->total_flops,
                (unsigned long long)p->total_operators);
    return digest_text(&text, out, err);
}

assay_status sweep_digest_plan(const sweep_plan *plan, sweep_hex out, assay_error *err)
{
    sweep_plan bare = *plan;
    sbuf text = {0};
    bare.id = bare.digest = (str){"", 0};
    result_write(&sweep_kind, &bare, 0, &text);
    return digest_text(&text, out, err);
}

/* ---- the machine ---- */

static const char *node_name(const host_info *h)
{
    static const char *const variables[] = {"ASSAY_NODE", "SLURMD_NODENAME"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return value;
    }
    return *h->host ? h->host : "unnamed";
}

void sweep_machine_name(char out[SWEEP_MACHINE])
{
    host_info h;
    sweep_hex hex;
    sha256 s;
    char text[256];
    host_describe(&h);
    int n = snprintf(text, sizeof text, "%s|%s|%ld|%llu", h.cpu, h.machine,
                     sysconf(_SC_NPROCESSORS_CONF),
                     (unsigned long long)((h.memory_bytes + ((uint64_t)1 << 29)) >> 30));
    sha256_begin(&s);
    sha256_add(&s, text, n > 0 && (size_t)n < sizeof text ? (size_t)n : strlen(text));
    sha256_end(&s, hex);
    snprintf(out, SWEEP_MACHINE, "%.180s@%.8s", node_name(&h), hex);
}

void sweep_other_jobs(sbuf *why)
{
    const char *own = getenv("SLURM_JOB_ID"), *node = getenv("SLURMD_NODENAME");
    process_result r = {0};
    unsigned others = 0;
    if (!own || !node)
        return;
    const char *const argv[] = {"squeue", "-h", "-t", "R", "-w", node, "-o", "%A", NULL};
    bool answered = process_run(argv, SQUEUE_MS, 1 << 16, &r, NULL) == ASSAY_OK && r.code == 0;
    str rest = {r.out.p, (uint32_t)r.out.n}, line;
    while (answered && rest.n && str_split(&rest, '\n', &line))
        others += str_trim(line).n && !str_is(str_trim(line), own);
    sbuf_free(&r.out);
    if (others)
        sbuf_printf(why, "%u other job%s of Slurm ran on %s", others, others == 1 ? "" : "s", node);
}
