/**
 * Slots of a pool that instances share, such as those of an upstream, and the requests that wait for a slot. The store decides which
 * request is next, by start-time fair queueing (decision 46). `plugins/upstream/capacity/fair-queue.ts` has the equivalent algorithm
 * for a single process.
 *
 * Every call is also a heartbeat. Slots and places of an instance that has been silent for `instanceLifetime` are freed.
 */
export interface SlotStore {
  /** Prefix of the ids of this instance. */
  readonly instance: string;
  /** Last known number of instances that share the slots. */
  readonly instances: number;
  /**
   * Takes a slot, or a place in the queue.
   *
   * @throws SharedUnavailable, like every call
   */
  enter(pool: string, limits: SlotLimits, ask: SlotAsk): Promise<SlotReply>;
  /** Frees a slot or gives up a place; an unknown id has no effect. */
  end(pool: string, limits: SlotLimits, id: string, result: SlotResult): Promise<SlotReply>;
  /** Registers a slot that is already in use, but that the store has lost or never knew. */
  adopt(pool: string, limits: SlotLimits, ask: SlotAsk, age: number): Promise<SlotReply>;
  /**
   * Heartbeat.
   *
   * @returns the store's data about this instance
   */
  beat(pool: string, limits: SlotLimits): Promise<SlotReply>;
  /**
   * Reports the slots that calls of other instances granted to this one.
   *
   * @param onGap called when grants may have been missed
   */
  onGrant(listener: (pool: string, ids: readonly string[]) => void, onGap: () => void): Promise<() => void>;
}

/** Limits of a pool and of its queue. */
export interface SlotLimits {
  readonly concurrent: number; // slots; may be infinite
  readonly requests: number; // per period; may be infinite
  readonly period: number; // ms
  readonly waitingByAccount: number;
  readonly waiting: number; // maximum over all accounts
}

/** A request that needs a slot. */
export interface SlotAsk {
  readonly id: string;
  readonly account: string;
  /** Its share, relative to other accounts. */
  readonly weight: number;
  /** False if the request is to be refused instead of queued. */
  readonly mayWait: boolean;
}

/** Result of using a slot. */
export interface SlotResult {
  /** False if its duration is not representative. */
  readonly isServed: boolean;
  /** Share of the capacity that the upstream refused; 0 if it refused none. */
  readonly refused: number;
  /** Requests that the upstream accepts within the next `leftFor` ms, according to its headers. */
  readonly left?: { readonly requests: number; readonly leftFor: number } | undefined;
}

/** Result for an abandoned place or an unused slot. */
export const unused: SlotResult = { isServed: false, refused: 0 };

export interface SlotReply {
  /** State of the requested id; undefined without one, or once it has ended. */
  readonly state: 'running' | 'waiting' | 'refused' | undefined;
  /** Number of requests up to and including the account's last one in serving order. */
  readonly position: number;
  /** Expected duration of these requests in ms, estimated from recent ones. */
  readonly expected: number;
  /** Ms until the rate allows the next request; undefined while no request waits for it. */
  readonly nextIn: number | undefined;
  /** Ids of this instance that this call granted a slot. */
  readonly granted: readonly string[];
  /** Only for `beat`: every id of this instance, with true if it has a slot. */
  readonly held?: ReadonlyMap<string, boolean>;
}

/** Ms between two calls of an instance with slots or places, and ms after which a silent instance counts as dead. */
export const beatInterval = 1_500;
export const instanceLifetime = 7_000;

/** Constants of the algorithm, for both implementations. */
export const fairness = {
  /** Half-life of an account's use, in ms. */
  halfLife: 60_000,
  /** Maximum factor by which recent use raises the cost of a slot. */
  mostBurden: 4,
  /** Initial estimate of a request's duration in ms. */
  firstMean: 1_000,
  /** Weight of the latest request in the mean of its account, and in the mean of all. */
  accountGain: 0.2,
  gain: 0.1,
  /** Share of the slots believed free that a rejection removes. */
  cut: 0.3,
  /** Fraction of a slot that a full round of served requests restores. */
  raise: 0.25,
  /** Ms after the last refusal for which the learned limit applies. */
  cutMemory: 600_000,
  /** Maximum ms for which an upstream's headers are trusted. */
  longestLeft: 60_000,
  /** Ms between two sweeps, and the use in slot-ms below which an account is swept. */
  sweepInterval: 60_000,
  forgottenUse: 100,
} as const;
