import type { Delivery } from '#core/gateway/facts.ts';
import type { Adapter } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Requester } from '../health/requester.ts';
import type { Allowance } from './allowance.ts';
import type { Candidates } from './candidates.ts';
import type { DeliveryNotes } from './delivery-notes.ts';
import type { HedgeTimer } from './hedge-timer.ts';
import type { RelayParts } from './relay-parts.ts';
import type { SessionLease } from './sessions.ts';

/** Shared by all attempts of one request. */
export interface RelayContext {
  readonly parts: RelayParts;
  readonly exchange: Exchange;
  readonly adapter: Adapter;
  readonly requester: Requester;
  /** Session that this turn of a conversation belongs to; undefined if there is only one route and key to choose. */
  readonly lease: SessionLease | undefined;
  readonly delivery: Delivery;
  readonly notes: DeliveryNotes;
  readonly allowance: Allowance;
  readonly candidates: Candidates;
  readonly hedgeTimer: HedgeTimer;
  readonly isResumable: boolean;
}
