/* The name of this machine in a fleet. */
#ifndef DEVICE_NODE_H
#define DEVICE_NODE_H

enum { NODE_NAME = 200 };
/* NODE@FINGERPRINT: the node by $ASSAY_NODE, $SLURMD_NODENAME or the name of the host; the fingerprint is the beginning
 * of the digest of processor, architecture, number of processors and memory in GiB. */
void node_name(char out[NODE_NAME]);

#endif
