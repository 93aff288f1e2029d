export interface Broker {
  /** `host:port`, or several of them joined by commas. */
  readonly bootstrapServers: string;
  /** Where it comes from, in words. */
  readonly origin: string;
  /** Ends it and deletes its data. Does nothing to a broker that was given. */
  remove(): Promise<void>;
}

/** A broker of one's own: it may be hurt. It keeps its address and its data until it is removed. */
export interface OwnBroker extends Broker {
  /** A clean shutdown (SIGTERM); resolves when the process is gone. */
  stop(): Promise<void>;
  /** A crash (SIGKILL); resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again once it is gone; resolves when it answers requests. */
  start(): Promise<void>;
  /** Resolves when its process is gone, whoever ended it; at once where there is none. */
  untilGone(): Promise<void>;
  /** The shell command that kills it as a crash would; it may be another one after each start. */
  killCommand(): string;
  /**
   * Lets its files grow by a few records and no further: writes fail as they do on a full disk, and it halts for want
   * of another one. `start` gives it room again.
   */
  fillDisk(): Promise<void>;
  /** Slow, not dead: its connections stay open and nothing answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** One more address that a broker listens on. */
export interface Listener {
  /** In capitals, as broker properties have it. */
  readonly name: string;
  readonly protocol: 'PLAINTEXT' | 'SSL' | 'SASL_SSL';
  readonly port: number;
  /** What it tells its clients, where they come through a proxy. */
  readonly advertisedPort?: number;
}

/** What a broker is started with. */
export interface BrokerShape {
  readonly port: number;
  readonly controllerPort: number;
  /** Besides the one without encryption and credentials at `port`. */
  readonly listeners: readonly Listener[];
  /** A node that only leads the cluster: no client can connect to it. Absent: broker and controller in one. */
  readonly isController?: boolean | undefined;
  /** On top of those that every node here has; may also replace them. */
  readonly properties: Readonly<Record<string, string>>;
  readonly jvmOptions: readonly string[];
}
