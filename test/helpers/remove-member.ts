import { KafkaError } from './kafka-error.ts';
import { askBroker, int32, string } from './raw-request.ts';

const LEAVE_GROUP = 13;

/** Has the group's coordinator remove a static member, as an operator may: `LeaveGroup` by somebody else (KIP-345). */
export async function removeMember(host: string, port: number, group: string, instanceId: string): Promise<void> {
  const body = Buffer.concat([string(group), int32(1), string(''), string(instanceId)]);
  const answer = await askBroker(host, port, { apiKey: LEAVE_GROUP, version: 3, isFlexible: false, body });
  // Behind the throttle time the error of all; behind the number of members, the id and the name of the only one, its own.
  for (const error of [answer.readInt16BE(4), answer.readInt16BE(answer.length - 2)])
    if (error !== 0) throw new KafkaError(`LeaveGroup of ${instanceId}`, error);
}
