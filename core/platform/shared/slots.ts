/**
 * Slots of a pool, such as those of an upstream, that instances share, and the requests that wait for one. Who is served next is
 * decided in the store, by start-time fair queueing (decision 46). `plugins/upstream/capacity/fair-queue.ts` does the same arithmetic
 * for one process.
 *
 * Every call is also a heartbeat. Slots and places of one that has been silent for `instanceLifetime` are free.
 */
export interface SlotStore {
  /** Begins the ids of this instance. */
  readonly instance: string;
  /** Last known number of instances that share the slots. */
  readonly instances: number;
  /**
   * Takes a slot, or a place among those that wait.
   *
   * @throws SharedUnavailable, as every call
   */
  enter(pool: string, limits: SlotLimits, ask: SlotAsk): Promise<SlotReply>;
  /** Frees a slot or gives up a place; does nothing for an unknown id. */
  end(pool: string, limits: SlotLimits, id: string, result: SlotResult): Promise<SlotReply>;
  /** Takes a slot that is in use already, which the store has lost or has never known. */
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
  readonly requests: number; // in each period; may be infinite
  readonly period: number; // ms
  readonly waitingByAccount: number;
  readonly waiting: number; // of all accounts
}

/** A request that needs a slot. */
export interface SlotAsk {
  readonly id: string;
  readonly account: string;
  /** Its share, relative to other accounts. */
  readonly weight: number;
  /** False for one that is content with "full". */
  readonly mayWait: boolean;
}

/** Result of using a slot. */
export interface SlotResult {
  /** False if its duration is not representative. */
  readonly isServed: boolean;
  /** Share of the capacity that the upstream refused; 0 when it did not. */
  readonly refused: number;
  /** Requests that the upstream takes within the next `leftFor` ms, by its headers. */
  readonly left?: { readonly requests: number; readonly leftFor: number } | undefined;
}

/** The end of a place, or of a slot that was not used. */
export const unused: SlotResult = { isServed: false, refused: 0 };

export interface SlotReply {
  /** State of the requested id; undefined without one, or once it has ended. */
  readonly state: 'running' | 'waiting' | 'refused' | undefined;
  /** Requests that are served before the account's last one, and that one. */
  readonly position: number;
  /** Expected duration of these in ms, from recent requests. */
  readonly expected: number;
  /** Ms until the rate allows the next one; undefined while no request waits for that. */
  readonly nextIn: number | undefined;
  /** Ids of this instance that got a slot by this call. */
  readonly granted: readonly string[];
  /** For `beat`: every id of this instance, and whether it has a slot. */
  readonly held?: ReadonlyMap<string, boolean>;
}

/** Ms between two calls of an instance that has slots or waits for some, and ms after which a silent one counts as dead. */
export const beatInterval = 1_500;
export const instanceLifetime = 7_000;

/** The numbers of the algorithm, for both implementations. */
export const fairness = {
  /** Ms after which half of the use is forgotten. */
  halfLife: 60_000,
  /** The most that recent use makes a slot dearer. */
  mostBurden: 4,
  /** Initial estimate of a request's duration in ms. */
  firstMean: 1_000,
  /** Weight of the latest request in the mean of its account, and of all. */
  accountGain: 0.2,
  gain: 0.1,
  /** Share of the slots believed free that a rejection removes. */
  cut: 0.3,
  /** Parts of a slot that a full round of served requests gives back. */
  raise: 0.25,
  /** Ms after the last refusal in which it is believed. */
  cutMemory: 600_000,
  /** The longest time in ms for which an upstream's headers are believed. */
  longestLeft: 60_000,
  /** Ms between two sweeps of accounts whose use is less than this, in slot-ms. */
  sweepInterval: 60_000,
  forgottenUse: 100,
} as const;
