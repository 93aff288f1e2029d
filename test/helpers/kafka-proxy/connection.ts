import type { Socket } from 'node:net';

import { Frames } from './frames.ts';
import { Line, type Slowness } from './line.ts';
import { parseRequest, type KafkaRequest } from './request.ts';

interface Surroundings {
  readonly slowness: () => Slowness | null;
  readonly swallows: () => boolean;
  /** Called with each request before it is passed on. */
  readonly arrived: (request: KafkaRequest) => void;
}

/** null where the client gets nothing. */
type ReplyChange = (reply: Buffer) => Buffer | null;

/** A client's connection to the broker. */
export class Connection {
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #around: Surroundings;
  readonly #toTarget: Line;
  readonly #toClient: Line;
  readonly #changes = new Map<number, ReplyChange>();
  /** What waits behind a held request, and that request first. */
  #held: Buffer[] | null = null;
  #isCutOff = false;
  hasSwallowed = false;

  constructor(client: Socket, target: Socket, around: Surroundings) {
    this.#client = client;
    this.#target = target;
    this.#around = around;
    this.#toTarget = new Line(target, around.slowness);
    this.#toClient = new Line(client, around.slowness);
    const requests = new Frames();
    const replies = new Frames();
    client.on('data', (bytes) => {
      if (this.#swallows()) return;
      for (const frame of requests.take(bytes)) this.#request(frame);
    });
    target.on('data', (bytes) => {
      if (this.#swallows()) return;
      for (const frame of replies.take(bytes)) this.#reply(frame);
    });
    // A request that is held has left its sender: it arrives even when that has gone.
    client.on('close', () => this.#held ?? target.destroy());
    target.on('close', () => client.destroy());
  }

  #swallows(): boolean {
    const swallows = this.#isCutOff || this.#around.swallows();
    if (swallows) this.hasSwallowed = true;
    return swallows;
  }

  #request(frame: Buffer): void {
    this.#around.arrived(parseRequest(frame));
    if (this.#isCutOff) return;
    if (this.#held) this.#held.push(frame);
    else this.#toTarget.send(frame);
  }

  #reply(frame: Buffer): void {
    const correlationId = frame.readInt32BE(4);
    const change = this.#changes.get(correlationId);
    this.#changes.delete(correlationId);
    const passed = change ? change(frame) : frame;
    if (passed && !this.#client.destroyed) this.#toClient.send(passed);
  }

  /** The reply is given to `change` before it is passed on. */
  onReply({ correlationId }: KafkaRequest, change: ReplyChange): void {
    this.#changes.set(correlationId, change);
  }

  /** Keeps back the request that is being looked at, and all behind it. */
  hold(): void {
    this.#held ??= [];
  }

  /** Resolves to the reply to the held request. */
  async release(request: KafkaRequest): Promise<Buffer> {
    const reply = new Promise<Buffer>((resolve, reject) => {
      this.onReply(request, (frame) => {
        resolve(frame);
        if (this.#client.destroyed) this.#target.destroy();
        return frame;
      });
      this.#target.once('close', () => reject(new Error('the broker has closed the connection of a held request')));
    });
    for (const frame of this.#held ?? []) this.#toTarget.send(frame);
    this.#held = null;
    return reply;
  }

  /** From here on nothing arrives any more on either side; nothing closes either. */
  cutOff(): void {
    this.#isCutOff = true;
    this.hasSwallowed = true;
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#target.resetAndDestroy();
  }
}
