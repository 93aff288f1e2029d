import { GROUP_DENIED, TOPIC_DENIED, TRANSACTIONAL_ID_DENIED } from '../kafka/errors.ts';
import { ClientError } from '../pipeline/ports.ts';
import { ProofRefused } from './refused.ts';
import { STAGE_PREFIX } from './stage.ts';

const REACH_MS = 15_000;

const CLUSTER_DENIED = 31;
const DENIED = new Set([TOPIC_DENIED, GROUP_DENIED, TRANSACTIONAL_ID_DENIED, CLUSTER_DENIED]);

/** Connects something, or says why it can't be. `complaint` is what the client said last. */
export async function reach<T>(
  connect: (signal: AbortSignal) => Promise<T>,
  complaint: () => string,
  signal: AbortSignal,
): Promise<T> {
  const patience = AbortSignal.timeout(REACH_MS);
  try {
    return await connect(AbortSignal.any([signal, patience]));
  } catch (error) {
    signal.throwIfAborted();
    if (patience.aborted)
      throw new ProofRefused(`gave up after ${REACH_MS / 1_000} s: ${complaint()}`, { cause: error });
    if (error instanceof ClientError) throw new ProofRefused(error.message, { cause: error });
    throw error;
  }
}

/** What the brokers do not allow is the user's to mend; any other error comes back as it is. */
export async function allowed<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ClientError) || !DENIED.has(error.code)) throw error;
    throw new ProofRefused(
      `${error.message}\nBesides Read on the input topics and Describe on the others, a proof needs these rights on all names that begin ` +
        `with ${STAGE_PREFIX}: Create, Read, Write and Delete on topics; Read and Delete on groups; Write on transactional ids`,
      { cause: error },
    );
  }
}
