import { ClientError, type FailureKind, type OutputRecord, type Producer } from '../../../src/pipeline/ports.ts';

type Call = 'produce' | 'sendOffsets' | 'commit' | 'abort';

/** A producer whose calls succeed, but for those that the test lets fail. It knows nothing of Kafka. */
export class ScriptedProducer implements Producer {
  readonly maxRecordBytes = 1_000_000;
  /** Calls in their order, but for `produce`. */
  readonly calls: string[] = [];
  readonly failures: Partial<Record<Call, ClientError>> = {};
  doubts: ReturnType<Producer['doubt']> = null;
  /** What the answers to its calls wait for. */
  held: Promise<void> = Promise.resolve();

  async init(): Promise<void> {
    this.calls.push('init');
  }

  async begin(): Promise<void> {
    this.calls.push('begin');
  }

  produce(records: readonly OutputRecord[]): number {
    if (this.failures.produce) throw this.failures.produce;
    return records.length;
  }

  sendOffsets(): Promise<void> {
    return this.#answer('sendOffsets');
  }

  commit(): Promise<void> {
    return this.#answer('commit');
  }

  abort(): Promise<void> {
    return this.#answer('abort');
  }

  async #answer(call: Call): Promise<void> {
    this.calls.push(call);
    await this.held;
    if (this.failures[call]) throw this.failures[call];
  }

  doubt(): ReturnType<Producer['doubt']> {
    return this.doubts;
  }

  async close(): Promise<void> {
    this.calls.push('close');
  }
}

export const failure = (kind: FailureKind, code: number, recordLevel = false): ClientError =>
  new ClientError(`code ${code}`, kind, code, recordLevel);
