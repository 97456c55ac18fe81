import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { Steps } from '#core/platform/database/steps.ts';

/*
 * Places limit the number of passes that run at the same time, if a plugin limits them. Without such a plugin, no plan sells out.
 */

/** Details of a plan that is sold out to new customers. */
export interface SoldOut {
  /** Epoch ms at which a place becomes free for an account that joins the waiting list now, if no plan is renewed; undefined if unknown. */
  readonly freeAt: number | undefined;
}

/** Sold-out plans by their days. */
export type SoldOutPlans = ReadonlyMap<number, SoldOut>;

/** An account's wait for a place. */
export interface Wait {
  readonly days: number;
  /** End of the reservation; undefined while waiting. */
  readonly reservedUntil: Date | undefined;
  /** Position on the waiting list, from 1; 0 with a reservation. */
  readonly position: number;
  /** True if an open order holds the reserved place: it is reserved again if that order ends in time. */
  readonly isOrdered: boolean;
}

/** Steps of the plugin that limits places. */
export interface PlaceSteps {
  /**
   * Returns true if a plan may be ordered, because the account renews, or a place is free and not reserved for the waiting list. Core has
   * locked the buyer's account; lock the places after it. Until the transaction ends, no other order takes a place, so the order that core
   * inserts takes this one.
   *
   * @param accountId the buyer's account; undefined for a gift, which renews nothing
   */
  claimPlace(
    host: Pick<Host, 'section'>,
    transaction: EntityManager,
    accountId: string | undefined,
    days: number,
  ): Promise<boolean>;
  /** Reads the plans that are sold out to an account, or to visitors; at most five seconds old. */
  readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans>;
  /** Finds the wait of an account, and how long a place is reserved; undefined if it does not wait, or already got its place. */
  findWait(host: Host, accountId: string): Promise<(Wait & { readonly reserveMinutes: number }) | undefined>;
  /** Appends an account to the waiting list of a plan; an account already on it keeps its position. */
  joinWaitingList(host: Host, accountId: string, days: number): Promise<void>;
  /** Removes an account from the waiting list; a reserved place goes to the next account. */
  leaveWaitingList(host: Host, accountId: string): Promise<void>;
}

export const placeSteps = new Steps<PlaceSteps>();

/** Reads the plans that are sold out to an account, or to visitors; empty if no plugin limits places. */
export async function readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans> {
  const steps = await placeSteps.findLoader(host.database.fork())?.();
  return steps?.readSoldOut(host, accountId) ?? new Map();
}
