import type { PlaceSteps } from '#core/business/payments/places.ts';
import { salesSection } from './section.ts';
import * as list from './waiting-list.ts';

/* Functions for core's checkout and for the pages that show plans. */

export { readSoldOut } from './availability.ts';
export { claimPlace } from './claim-place.ts';
export { joinWaitingList, leaveWaitingList } from './waiting-list.ts';

export const findWait: PlaceSteps['findWait'] = async (host, accountId) => {
  const wait = await list.findWait(host, accountId);
  return wait && { ...wait, reserveMinutes: host.section(salesSection).reserve_minutes };
};
