/* The client of the fleet's servers, and the hash by which a file is known to have come whole. */
#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#endif
