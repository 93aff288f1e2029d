import { pbkdf2Sync, randomBytes } from 'node:crypto';

import { askBroker, bytes, int32, string } from './raw-request.ts';

const CREATE_ACLS = 30;
const DELETE_ACLS = 31;
const ALTER_USER_SCRAM_CREDENTIALS = 51;

const RESOURCES = { topic: 2, group: 3, cluster: 4, transactionalId: 5 };
const OPERATIONS = { read: 3, write: 4, create: 5, delete: 6, describe: 8, describeConfigs: 10 };
const LITERAL = 3;
const PREFIXED = 4;
const ALLOW = 3;
const ANY_HOST = '*';
const SCRAM_SHA_512 = 2;
const ITERATIONS = 4_096;

/** What a user may do with something. */
export interface Acl {
  readonly user: string;
  readonly resource: keyof typeof RESOURCES;
  readonly name: string;
  readonly operation: keyof typeof OPERATIONS;
  /** Whether the name stands for all that begin with it. */
  readonly isPrefix?: boolean;
}

/** Whom a broker knows, and what they may do there. */
export interface Access {
  allow(...acls: readonly Acl[]): Promise<void>;
  /** Takes ACLs away again. */
  disallow(...acls: readonly Acl[]): Promise<void>;
  /** For SCRAM-SHA-512; makes the user if there is none. */
  setPassword(user: string, password: string): Promise<void>;
}

/** By requests to a broker where the tests themselves may do everything. */
export function accessOf(bootstrapServers: string): Access {
  const [host = '', port = ''] = bootstrapServers.split(':');
  const ask = (apiKey: number, version: number, isFlexible: boolean, body: Buffer): Promise<Buffer> =>
    askBroker(host, Number(port), { apiKey, version, isFlexible, body });

  /** Both requests list the same fields, and answer each entry with an error first. */
  async function change(apiKey: number, acls: readonly Acl[]): Promise<void> {
    for (const acl of acls) {
      const response = await ask(apiKey, 1, false, Buffer.concat([int32(1), encode(acl)]));
      // Behind the throttle time and the number of answers.
      const error = response.readInt16BE(8);
      if (error !== 0) throw new Error(`${JSON.stringify(acl)} could not be changed, Kafka's error ${error}`);
    }
  }

  return {
    allow: (...acls) => change(CREATE_ACLS, acls),
    disallow: (...acls) => change(DELETE_ACLS, acls),
    async setPassword(user, password) {
      const salt = randomBytes(16);
      const salted = pbkdf2Sync(password, salt, ITERATIONS, 64, 'sha512');
      const credentials = [compact(Buffer.from(user)), bytes([SCRAM_SHA_512]), int32(ITERATIONS)];
      const upsertion = Buffer.concat([...credentials, compact(salt), compact(salted), bytes([0])]);
      // No deletions, one upsertion; a compact array's length stands one too high.
      const body = Buffer.concat([bytes([1, 2]), upsertion, bytes([0])]);
      const response = await ask(ALTER_USER_SCRAM_CREDENTIALS, 0, true, body);
      // Behind the throttle time, the number of answers, and the user's name.
      const error = response.readInt16BE(6 + user.length);
      if (error !== 0) throw new Error(`${user}: the password could not be set, Kafka's error ${error}`);
    },
  };
}

function encode({ user, resource, name, operation, isPrefix = false }: Acl): Buffer {
  return Buffer.concat([
    bytes([RESOURCES[resource]]),
    string(name),
    bytes([isPrefix ? PREFIXED : LITERAL]),
    string(`User:${user}`),
    string(ANY_HOST),
    bytes([OPERATIONS[operation], ALLOW]),
  ]);
}

/** Of the kind that versions with tagged fields use, for less than 127 bytes. */
function compact(content: Buffer): Buffer {
  return Buffer.concat([bytes([content.length + 1]), content]);
}
