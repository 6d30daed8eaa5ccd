/* assay fuse: the layers of a model joined into kernels. */
#include "cli/job.h"

int cmd_fuse(cli_args *args)
{
    return cli_job_view(args, assay_fuse, "fuse");
}
