import { KafkaError } from './kafka-error.ts';
import { askBroker, bytes, int32, string } from './raw-request.ts';

const INCREMENTAL_ALTER_CONFIGS = 44;
const TOPIC = 2;
const SET = 0;

/** Sets one configuration value of a topic. */
export async function alterTopic(
  host: string,
  port: number,
  topic: string,
  name: string,
  value: string,
): Promise<void> {
  const change = Buffer.concat([string(name), bytes([SET]), string(value)]);
  const resource = Buffer.concat([bytes([TOPIC]), string(topic), int32(1), change]);
  const body = Buffer.concat([int32(1), resource, bytes([0])]); // not only to be validated
  const response = await askBroker(host, port, {
    apiKey: INCREMENTAL_ALTER_CONFIGS,
    version: 0,
    isFlexible: false,
    body,
  });
  // Behind the throttle time and the number of answers.
  const error = response.readInt16BE(8);
  if (error !== 0) throw new KafkaError(`${topic}: ${name} could not be set`, error);
}
