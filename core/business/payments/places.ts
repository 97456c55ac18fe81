import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { Steps } from '#core/platform/database/steps.ts';

/*
 * Places: how many passes a plugin lets run at a time. Without it, nothing is ever sold out.
 */

/** Details of a plan that is sold out to new customers. */
export interface SoldOut {
  /** Epoch ms at which a place becomes free for an account that joins the waiting list now, if no plan is renewed; undefined if unknown. */
  readonly freeAt: number | undefined;
}

/** Plans that are sold out, by their days. */
export type SoldOutPlans = ReadonlyMap<number, SoldOut>;

/** The wait of one account for a place. */
export interface Wait {
  readonly days: number;
  /** End of the reservation; undefined while waiting. */
  readonly reservedUntil: Date | undefined;
  /** 1 for the next one; 0 with a reservation. */
  readonly position: number;
  /** True once the reserved place is that of an open order: it is reserved again if the order ends in time. */
  readonly isOrdered: boolean;
}

export interface PlaceSteps {
  /**
   * Whether a plan may be ordered: the account renews, or a place is free and not reserved for the waiting list. Core has locked the account of the
   * buyer; the lock of the places comes after it. Until the transaction ends, no other order takes a place, so the order that core inserts
   * takes this one.
   *
   * @param accountId of the buyer; undefined for a gift, which renews nothing
   */
  claimPlace(
    host: Pick<Host, 'section'>,
    transaction: EntityManager,
    accountId: string | undefined,
    days: number,
  ): Promise<boolean>;
  /** Plans sold out to an account, or to visitors, at most five seconds old. */
  readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans>;
  /** The wait of an account, and for how long a place is reserved; undefined once it has what it waited for, or does not wait. */
  findWait(host: Host, accountId: string): Promise<(Wait & { readonly reserveMinutes: number }) | undefined>;
  /** Puts an account on the waiting list for a plan, at its end; one that is on it stays where it is. */
  joinWaitingList(host: Host, accountId: string, days: number): Promise<void>;
  /** Takes an account off the waiting list; a reserved place goes to the next one. */
  leaveWaitingList(host: Host, accountId: string): Promise<void>;
}

export const placeSteps = new Steps<PlaceSteps>();

/** Plans sold out to an account, or to visitors; none if no plugin limits places. */
export async function readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans> {
  return (await placeSteps.of(host.database.fork())?.())?.readSoldOut(host, accountId) ?? new Map();
}
