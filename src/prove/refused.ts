/** A proof can't be made here: what is wrong, and the remedy. */
export class ProofRefused extends Error {
  override readonly name = 'ProofRefused';
}
