import { crc32 } from 'node:zlib';

/** Counts records and sums up their contents, in whatever order they come. */
export class Tally {
  records = 0;
  #sum = 0;

  add(key: Buffer | null, value: Buffer | null): void {
    this.records++;
    const keySum = key === null ? 0 : crc32(key);
    this.#sum = (this.#sum + (value === null ? keySum : crc32(value, keySum))) >>> 0;
  }

  /** What is wrong with `found`, which should be the same records; null where it is. */
  differenceTo(found: Tally): string | null {
    if (found.records !== this.records) return `${found.records} records instead of ${this.records}`;
    return found.#sum === this.#sum ? null : 'the right number of records, but not the right contents';
  }
}
