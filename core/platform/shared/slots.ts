/**
 * Slots of a pool that instances share, such as an upstream's, and the requests that wait for a slot. The store selects the next request by
 * start-time fair queueing (decision 46). `plugins/upstream/capacity/fair-queue.ts` implements the same algorithm for a single process.
 *
 * Every call is also a heartbeat. Slots and places of an instance without a call for `instanceLifetimeMs` are freed.
 */
export interface SlotStore {
  /** Prefix of the ids of this instance. */
  readonly instance: string;
  /** Last known number of instances that share the slots. */
  readonly instances: number;
  /** Takes a slot, or a place in the queue. Rejects with SharedUnavailable, as all methods do. */
  enter(pool: string, limits: SlotLimits, request: RequestedSlot): Promise<SlotReply>;
  /** Frees a slot or a place. Does nothing for an unknown id. */
  end(pool: string, limits: SlotLimits, id: string, result: SlotResult): Promise<SlotReply>;
  /** Registers a slot that is already in use, but missing in the store. */
  adopt(pool: string, limits: SlotLimits, request: RequestedSlot, ageMs: number): Promise<SlotReply>;
  /** Sends a heartbeat. Returns the store's data about this instance. */
  beat(pool: string, limits: SlotLimits): Promise<SlotReply>;
  /** Reports the slots that calls of other instances granted to this one. `onGap` is called when grants may have been missed. */
  onGrant(listener: (pool: string, ids: readonly string[]) => void, onGap: () => void): Promise<() => void>;
}

export interface SlotLimits {
  readonly concurrent: number; // slots; may be infinite
  readonly requests: number; // per period; may be infinite
  readonly periodMs: number;
  readonly waitingByAccount: number;
  readonly waiting: number; // maximum over all accounts
}

export interface RequestedSlot {
  readonly id: string;
  readonly account: string;
  /** The account's share, relative to other accounts. */
  readonly weight: number;
  /** False to refuse the request instead of queueing it. */
  readonly mayWait: boolean;
}

export interface SlotResult {
  /** False if its duration is not representative. */
  readonly isServed: boolean;
  /** Share of the capacity that the upstream refused; 0 if it refused none. */
  readonly refusedShare: number;
  /** How many requests the upstream accepts within the next `validForMs`, according to its headers. */
  readonly remaining?: { readonly requests: number; readonly validForMs: number } | undefined;
}

/** Result for an abandoned place or an unused slot. */
export const unusedResult: SlotResult = { isServed: false, refusedShare: 0 };

export interface SlotReply {
  /** State of the requested id; undefined without one, or once it has ended. */
  readonly state: 'running' | 'waiting' | 'refused' | undefined;
  /** Number of requests up to and including the account's last request, in serving order. */
  readonly position: number;
  /** Estimated time in ms until these requests have started. */
  readonly expectedMs: number;
  /** Ms until the rate allows the next request; undefined while none waits for it. */
  readonly nextInMs: number | undefined;
  /** Ids of this instance that got a slot by this call. */
  readonly grantedIds: readonly string[];
  /** Only for `beat`: every id of this instance, with true for a slot and false for a place. */
  readonly hasSlotById?: ReadonlyMap<string, boolean>;
}

export const heartbeatIntervalMs = 1_500; // an instance with slots or places calls at least this often
export const instanceLifetimeMs = 7_000; // without a call, until an instance counts as dead

/** Constants of both implementations of the algorithm. */
export const fairness = {
  halfLifeMs: 60_000, // of an account's use
  maxBurden: 4, // recent use raises the cost of a slot by at most this factor
  initialMeanMs: 1_000, // estimate of a request's duration
  accountGain: 0.2, // weight of the latest request in the mean of its account
  gain: 0.1, // weight of the latest request in the mean of all
  cut: 0.3, // a rejection lowers the learned limit by this share of the slots in use
  raise: 0.25, // a full round of served requests restores this fraction of a slot
  cutMemoryMs: 600_000, // the learned limit applies this long after the last refusal
  maxRemainingMs: 60_000, // an upstream's headers are trusted at most this long
  sweepIntervalMs: 60_000,
  minUse: 100, // slot-ms; a sweep removes an idle account with less use
} as const;
