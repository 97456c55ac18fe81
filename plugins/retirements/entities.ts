import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** What a vendor's list of models says about a route's model. */
export const RetirementRoute = defineEntity({
  name: 'RetirementRoute',
  tableName: 'retirement_route',
  properties: {
    route: impersonal(p.text().primary()),
    checkedAt: p.datetime(),
    /** When the vendor last listed the model; null if it never has. */
    listedAt: p.datetime().nullable(),
    /** Digest of the key whose list last contained the model. A vendor's lists may differ between keys. */
    listedFor: impersonal(p.text().nullable()),
    /** When the model was first missing from a list that had contained it. */
    missingSince: p.datetime().nullable(),
    /** First day (UTC) without the model, according to the list. */
    endsOn: impersonal(p.text().nullable()),
    /** The replacement that the list recommends, or else the latest model of the same family. */
    successor: impersonal(p.text().nullable()),
    error: impersonal(p.text().nullable()), // why the list could not be read
  },
});
