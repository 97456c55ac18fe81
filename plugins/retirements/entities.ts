import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** State of a route's model on its vendor's list. */
export const RetirementRoute = defineEntity({
  name: 'RetirementRoute',
  tableName: 'retirement_route',
  properties: {
    route: impersonal(p.text().primary()),
    checkedAt: p.datetime(),
    /** Time when the vendor last listed the model; null if it never has. */
    listedAt: p.datetime().nullable(),
    /** Digest of the key whose list last had the model. Lists may differ between keys of a vendor. */
    listedFor: impersonal(p.text().nullable()),
    /** Time when the model was first found missing from a list that had contained it. */
    missingSince: p.datetime().nullable(),
    /** First day (UTC) without the model, from the list. */
    endsOn: impersonal(p.text().nullable()),
    /** The model that the list recommends instead, or the latest model of the family. */
    successor: impersonal(p.text().nullable()),
    /** Reason why the list could not be read. */
    error: impersonal(p.text().nullable()),
  },
});
