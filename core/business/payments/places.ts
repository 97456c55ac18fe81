import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { Steps } from '#core/platform/database/steps.ts';

/* Places limit how many passes can run at the same time. Without a plugin that limits places, no plan ever sells out. */

/** What is known about a plan that is sold out to new customers. */
export interface SoldOut {
  /** When a place becomes free for an account that joins the waiting list now, if no plan is renewed, in epoch ms; undefined if unknown. */
  readonly freeAt: number | undefined;
}

/** Sold-out plans, by their number of days. */
export type SoldOutPlans = ReadonlyMap<number, SoldOut>;

/** An account that is waiting for a place. */
export interface WaitingListEntry {
  readonly days: number;
  readonly reservedUntil: Date | undefined; // end of the reservation; undefined if no place is reserved yet
  readonly position: number; // position on the waiting list, from 1; 0 if a place is reserved
  /** True if an open order holds the reserved place. If that order ends before `reservedUntil`, the place is reserved again. */
  readonly isOrdered: boolean;
}

/** Provided by the plugin that limits places. */
export interface PlaceSteps {
  /**
   * Returns true if a plan may be ordered, because the account renews, or because a place is free and not reserved for the waiting list.
   * Core has already locked the buyer's account; lock the places after it. No other order takes a place until the transaction ends, so the
   * order that core inserts next takes this one.
   *
   * @param accountId the buyer's account; undefined for a gift, which does not renew anything
   */
  claimPlace(
    host: Pick<Host, 'section'>,
    transaction: EntityManager,
    accountId: string | undefined,
    days: number,
  ): Promise<boolean>;
  /** Returns the plans that are sold out to an account, or to visitors. May be up to five seconds old. */
  readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans>;
  /** Returns an account's entry on the waiting list, and how long places are reserved; undefined if it is not waiting. */
  findWait(
    host: Host,
    accountId: string,
  ): Promise<(WaitingListEntry & { readonly reserveMinutes: number }) | undefined>;
  /** Adds an account to the end of a plan's waiting list; if it is already on the list, it keeps its position. */
  joinWaitingList(host: Host, accountId: string, days: number): Promise<void>;
  /** Removes an account from the waiting list. If a place was reserved for it, the next account gets that place. */
  leaveWaitingList(host: Host, accountId: string): Promise<void>;
}

export const placeSteps = new Steps<PlaceSteps>();

/** Returns the plans that are sold out to an account, or to visitors; empty if no plugin limits places. */
export async function readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans> {
  const steps = await placeSteps.findLoader(host.database.fork())?.();
  return steps?.readSoldOut(host, accountId) ?? new Map();
}
