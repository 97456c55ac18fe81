import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** What the list of its vendor says of the model of a route. */
export const RetirementRoute = defineEntity({
  name: 'RetirementRoute',
  tableName: 'retirement_route',
  properties: {
    route: impersonal(p.text().primary()),
    checkedAt: p.datetime(),
    /** When the vendor listed the model last; null: it never has. */
    listedAt: p.datetime().nullable(),
    /** Digest of the key whose list had it last: keys of one vendor may see other lists. */
    listedFor: impersonal(p.text().nullable()),
    /** Since when a list that had the model lacks it. */
    missingSince: p.datetime().nullable(),
    /** First day (UTC) without the model, as the list says. */
    endsOn: impersonal(p.text().nullable()),
    /** The model that the list recommends instead, or the latest of the family. */
    successor: impersonal(p.text().nullable()),
    /** Reason for which the list could not be read. */
    error: impersonal(p.text().nullable()),
  },
});
