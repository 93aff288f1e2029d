/** A broker's answer that is one of Kafka's error codes. */
export class KafkaError extends Error {
  readonly code: number;

  constructor(what: string, code: number) {
    super(`${what}: Kafka's error ${code}`);
    this.code = code;
  }
}
